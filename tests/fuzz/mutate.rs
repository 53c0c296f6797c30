//! How one input becomes another.

/// Pieces that mean something to some reader.
const WORDS: &[&str] = &[
    "data: ",
    "data:",
    "event: ",
    "event: error\n",
    ": c\n",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\\"",
    "\\u",
    "\\ud83d",
    "\\u0000",
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "18446744073709551616",
    "[DONE]",
    "\u{2028}",
    "\u{feff}",
    "é",
    "🌍",
    "\"type\":",
    "\"index\":",
    "\"delta\":",
    "\"choices\":",
    "\"content\":",
    "\"tool_calls\":",
    "\"finish_reason\":\"stop\"",
    "\"finish_reason\":\"abort\"",
    "\"finish_reason\":\"stop ",
    "\"stop_reason\":\"abort\"",
    "\"finishReason\":\"NEW\"",
    "\"status\":\"cancelled\"",
    "\"status\":\"incomplete\"",
    "\"usage\":",
    "\"error\":",
    "\"id\":\"\"",
    "\"arguments\":",
    "\"message_start\"",
    "\"content_block_start\"",
    "\"content_block_delta\"",
    "\"content_block_stop\"",
    "\"message_delta\"",
    "\"message_stop\"",
    "\"input_json_delta\"",
    "\"thinking_delta\"",
    "\"signature_delta\"",
    "\"tool_use\"",
    "\"redacted_thinking\"",
    "\"stop_reason\":\"tool_use\"",
    "\"response.completed\"",
    "\"response.failed\"",
    "\"response.incomplete\"",
    "\"response.output_text.delta\"",
    "\"response.output_item.done\"",
    "\"function_call\"",
    "\"output_index\":1",
    "\"encrypted_content\":\"x\"",
    "\"candidates\":",
    "\"parts\":",
    "\"functionCall\":",
    "\"partialArgs\":",
    "\"willContinue\":true",
    "\"jsonPath\":\"$.a[9].b\"",
    "\"finishReason\":\"STOP\"",
    "\"thoughtSignature\":\"x\"",
    "\"usageMetadata\":",
    "\"promptFeedback\":{\"blockReason\":\"SAFETY\"}",
];

/// Some changes of `body`; `other` lends pieces.
pub(crate) fn mutate(mut body: Vec<u8>, other: &[u8], rng: &mut fastrand::Rng) -> Vec<u8> {
    for _ in 0..=rng.usize(..4) {
        let at = rng.usize(..=body.len());
        match rng.u8(..8) {
            0 => insert(
                &mut body,
                at,
                WORDS.get(rng.usize(..WORDS.len())).map_or(b"", |w| w.as_bytes()),
            ),
            1 => drop(body.drain(at..(at + rng.usize(..40)).min(body.len()))),
            2 => {
                if let Some(byte) = body.get_mut(at) {
                    *byte = rng.u8(..);
                }
            }
            3 => {
                if let Some(byte) = body.get_mut(at) {
                    *byte ^= 1 << rng.u8(..8);
                }
            }
            // An event of this one, or of another, once more.
            4 => {
                let event = event(&body, rng).to_vec();
                insert(&mut body, at, &event);
            }
            5 => insert(&mut body, at, event(other, rng)),
            // Two events change places.
            6 => {
                let event = event(&body, rng).to_vec();
                if let Some(place) = find(&body, &event) {
                    drop(body.drain(place..place + event.len()));
                }
                let at = rng.usize(..=body.len());
                insert(&mut body, at, &event);
            }
            _ => body.truncate(at),
        }
    }
    body
}

fn insert(body: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(body.splice(at..at, piece.iter().copied()));
}

/// One of the events.
fn event<'b>(body: &'b [u8], rng: &mut fastrand::Rng) -> &'b [u8] {
    let ends: Vec<usize> = body
        .windows(2)
        .enumerate()
        .filter(|(_, two)| *two == b"\n\n")
        .map(|(at, _)| at + 2)
        .collect();
    if ends.is_empty() {
        return body;
    }
    let place = rng.usize(..ends.len());
    let start = place.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(place).copied().unwrap_or(body.len());
    body.get(start..end).unwrap_or_default()
}

fn find(body: &[u8], piece: &[u8]) -> Option<usize> {
    if piece.is_empty() {
        return None;
    }
    body.windows(piece.len()).position(|window| window == piece)
}
