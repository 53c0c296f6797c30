//! What goes over the sockets: the request, the events with their stamps, and their checks.
//!
//! Every token event has the same length and differs only in its number and the time at which the
//! mock sent it. So the client can rebuild what it must have received and compare every byte.

use crate::Res;
use std::fmt::Write as _;

/// The client key that the relay is configured with.
pub(crate) const KEY: &str = "belay-bench-key";
/// Its SHA-256, as the relay's configuration wants it.
pub(crate) const KEY_SHA256: &str =
    "0d1b7f154fdc7e275e3abef3b1e4b90381855c13a1f7dcac27fe33e7e3786ee1";

const PREFIX: &str = "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\
\"created\":1790000000,\"model\":\"bench-model\",\"system_fingerprint\":\"fp_bench\",\
\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
const SUFFIX: &str =
    " and so the answer goes on\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
const FINISH: &str = "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\
\"created\":1790000000,\"model\":\"bench-model\",\"system_fingerprint\":\"fp_bench\",\
\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";
/// Eight digits of number, a space, sixteen digits of nanoseconds.
const NUMBER: usize = 8;
const STAMP: usize = 16;

/// Head of every answer of the mock.
pub(crate) const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";

/// How a stream is asked for: in the prompt, which every target hands on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    /// Token events.
    pub(crate) events: u32,
    /// Mean time between them; zero for as fast as they go.
    pub(crate) gap_us: u32,
}

impl Order {
    /// The request that a client writes.
    pub(crate) fn request(self) -> Vec<u8> {
        self.request_to("bench")
    }

    /// The same to a ladder of this name.
    pub(crate) fn request_to(self, ladder: &str) -> Vec<u8> {
        let body = format!(
            "{{\"model\":\"{ladder}\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\
             \"content\":\"bench events={:08} gap={:08} and then some words of a usual prompt, so \
             that there is something to carry\"}}]}}",
            self.events, self.gap_us
        );
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n\
             Content-Type: application/json\r\nAccept: text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }

    /// Reads it back from a body that a target may have rewritten.
    pub(crate) fn from_body(body: &[u8]) -> Option<Self> {
        let number = |name: &[u8]| -> Option<u32> {
            let at = find(body, name)? + name.len();
            std::str::from_utf8(body.get(at..at + NUMBER)?).ok()?.parse().ok()
        };
        Some(Self { events: number(b"events=")?, gap_us: number(b" gap=")? })
    }
}

/// Where `needle` begins.
pub(crate) fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len()).position(|window| window == needle)
}

fn chunk(out: &mut Vec<u8>, payload: &str) {
    let mut size = String::new();
    // Writing to a string does not fail.
    let _ = write!(size, "{:x}\r\n", payload.len());
    out.extend_from_slice(size.as_bytes());
    out.extend_from_slice(payload.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// One token event as one HTTP chunk.
pub(crate) fn put_event(out: &mut Vec<u8>, number: u32, sent: u64) {
    let mut event = String::with_capacity(320);
    let _ = write!(event, "{PREFIX}{number:08} {sent:016}{SUFFIX}");
    chunk(out, &event);
}

/// The finish reason, usage for whom it was asked for, `[DONE]` and the end of the body.
pub(crate) fn put_end(out: &mut Vec<u8>, events: u32, usage: bool) {
    chunk(out, FINISH);
    if usage {
        let total = events + 40;
        chunk(
            out,
            &format!(
                "data: {{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\
                 \"created\":1790000000,\"model\":\"bench-model\",\"choices\":[],\"usage\":\
                 {{\"prompt_tokens\":40,\"completion_tokens\":{events},\"total_tokens\":{total}}}}}\n\n"
            ),
        );
    }
    chunk(out, DONE);
    out.extend_from_slice(b"0\r\n\r\n");
}

/// Reads the client's side of one answer and checks every byte of it.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Decoded body that is not yet a whole event.
    body: Vec<u8>,
    next: u32,
    finished: bool,
    done: bool,
}

impl Answer {
    /// Takes decoded body; gives the send time of each token event in it to `token`.
    pub(crate) fn take(&mut self, data: &[u8], mut token: impl FnMut(u32, u64)) -> Res<()> {
        self.body.extend_from_slice(data);
        let mut read = 0;
        while let Some(rest) = self.body.get(read..) {
            let Some(length) = event_length(rest) else { break };
            let Some(event) = rest.get(..length).map(without_comments) else { break };
            read += length;
            if let Some((number, sent)) = token_event(event) {
                if number != self.next || self.finished {
                    return Err(format!("event {number} where {} belongs", self.next).into());
                }
                self.next += 1;
                token(number, sent);
            } else if event == FINISH.as_bytes() {
                self.finished = true;
            } else if event == DONE.as_bytes() && self.finished {
                self.done = true;
            } else if event != b"\n" {
                return Err(format!("not sent: {}", String::from_utf8_lossy(event)).into());
            }
        }
        self.body.drain(..read);
        Ok(())
    }

    /// Whether all `events` came, in order, and the end with them.
    pub(crate) fn complete(&self, events: u32) -> bool {
        self.next == events && self.finished && self.done && self.body.is_empty()
    }
}

const EVENT: usize = PREFIX.len() + NUMBER + 1 + STAMP + SUFFIX.len();

/// The length of the first whole event; a token event is recognised without a search.
fn event_length(rest: &[u8]) -> Option<usize> {
    if rest.get(EVENT - 2..EVENT) == Some(b"\n\n") && rest.starts_with(PREFIX.as_bytes()) {
        return Some(EVENT);
    }
    find(rest, b"\n\n").map(|at| at + 2)
}

/// A block without the comment lines at its start: the stamp and heartbeats are such lines.
fn without_comments(mut event: &[u8]) -> &[u8] {
    while event.first() == Some(&b':') {
        let end = find(event, b"\n").map_or(event.len(), |at| at + 1);
        event = event.get(end..).unwrap_or_default();
    }
    event
}

fn token_event(event: &[u8]) -> Option<(u32, u64)> {
    let middle = event.strip_prefix(PREFIX.as_bytes())?.strip_suffix(SUFFIX.as_bytes())?;
    let (number, stamp) = middle.split_at_checked(NUMBER)?;
    let stamp = stamp.strip_prefix(b" ").filter(|stamp| stamp.len() == STAMP)?;
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((number, std::str::from_utf8(stamp).ok()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(numbers: &[u32], events: u32) -> Vec<u8> {
        let mut chunks = Vec::new();
        for number in numbers {
            put_event(&mut chunks, *number, 17);
        }
        put_end(&mut chunks, events, false);
        let mut body = Vec::new();
        let mut whole = HEAD.as_bytes().to_vec();
        whole.extend(chunks);
        let mut reader = crate::chunked::Reader::new();
        let over = reader.take(&whole, |data| {
            body.extend_from_slice(data);
            Ok(())
        });
        assert!(over.unwrap());
        body
    }

    #[test]
    fn an_answer_is_whole_however_it_is_cut() {
        let body = sent(&[0, 1, 2], 3);
        for cut in 0..body.len() {
            let mut answer = Answer::default();
            let mut stamps = Vec::new();
            for part in [&body[..cut], &body[cut..]] {
                answer.take(part, |number, sent| stamps.push((number, sent))).unwrap();
            }
            assert!(answer.complete(3));
            assert_eq!(stamps, [(0, 17), (1, 17), (2, 17)]);
        }
    }

    #[test]
    fn what_is_lost_turned_round_doubled_or_changed_is_seen() {
        for numbers in [&[0, 2][..], &[1, 0], &[0, 0], &[0, 1, 1]] {
            assert!(Answer::default().take(&sent(numbers, 2), |_, _| {}).is_err());
        }
        let mut short = Answer::default();
        short.take(&sent(&[0], 2), |_, _| {}).unwrap();
        assert!(!short.complete(2));
        let mut changed = sent(&[0, 1], 2);
        changed[EVENT + 20] ^= 1;
        assert!(Answer::default().take(&changed, |_, _| {}).is_err());
    }

    #[test]
    fn a_comment_is_no_event_and_hides_none() {
        let body = String::from_utf8(sent(&[0, 1], 2)).unwrap();
        let stamped = body.replace(DONE, &format!(": belay {{\"rung\":\"mock\"}}\n:\n{DONE}"));
        let body = format!(": a block of its own\n\n{stamped}").into_bytes();
        let mut answer = Answer::default();
        answer.take(&body, |_, _| {}).unwrap();
        assert!(answer.complete(2));
    }

    #[test]
    fn an_order_survives_its_request() {
        let request = Order { events: 20, gap_us: 5_000 }.request();
        let order = Order::from_body(&request).unwrap();
        assert_eq!((order.events, order.gap_us), (20, 5_000));
    }
}
