//! What the relay adds to a stream beside the answer: signs of life, and the stamp.
//!
//! Some clients (fetch-event-source) read a comment in a block of its own as an empty event: they
//! fail on it and send the request again, each second. So no block of a stream is without data.
//! Some clients split a stream at blank lines and read only a block's first line: they skip a whole
//! block that begins with a comment. So no event that such a client needs follows a comment in the
//! same block.

use crate::chat::TERMINATOR;
use crate::table;
use bytes::{BufMut as _, BytesMut};
use shared::Dialect;

/// The bytes that keep a silent connection open.
///
/// Anthropic has an event for it, which clients ignore. For the other dialects it is a comment line
/// without a blank line after it: the block stays open until the next event, see
/// [`close_heartbeats`].
#[must_use]
pub fn heartbeat(to: Dialect) -> &'static [u8] {
    table::client(to).heartbeat()
}

/// Ends the block that heartbeat lines have opened, so that the next event has a block of its own.
/// It writes an event without content, if the dialect has one.
///
/// `model` is what the client has asked for.
pub fn close_heartbeats(to: Dialect, id: &str, created: i64, model: &str, out: &mut BytesMut) {
    table::client(to).close_heartbeats(id, created, model, out);
}

/// Adds `: belay {json}` to the block of the last event in `ending`.
///
/// It is written after the event, because the event may be an error or a whole response, which
/// every client needs. Only for `[DONE]` it is written before: no client needs that event, but some
/// compare it with the rest of the block. Without an event nothing is written.
///
/// A line end inside `json` would end the comment and turn the rest into fields, so it is written
/// as a space.
pub fn comment(json: &str, ending: &mut BytesMut) {
    if !ending.ends_with(b"\n\n") {
        return;
    }
    let behind = if ending.ends_with(TERMINATOR) { TERMINATOR } else { b"\n" };
    ending.truncate(ending.len().saturating_sub(behind.len()));
    ending.put_slice(b": belay ");
    for (n, line) in json.split(['\r', '\n']).enumerate() {
        if n > 0 {
            ending.put_u8(b' ');
        }
        ending.put_slice(line.as_bytes());
    }
    ending.put_u8(b'\n');
    ending.put_slice(behind);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_a_line_in_the_block_of_the_last_event() {
        for (ending, stamped) in [
            (
                "data: {\"usage\":1}\n\ndata: [DONE]\n\n",
                "data: {\"usage\":1}\n\n: belay {}\ndata: [DONE]\n\n",
            ),
            (
                "event: message_delta\ndata: {}\n\nevent: message_stop\ndata: {}\n\n",
                "event: message_delta\ndata: {}\n\nevent: message_stop\ndata: {}\n: belay {}\n\n",
            ),
            (
                "event: response.completed\ndata: {}\n\n",
                "event: response.completed\ndata: {}\n: belay {}\n\n",
            ),
            ("data: {\"error\":{}}\n\n", "data: {\"error\":{}}\n: belay {}\n\n"),
            ("event: error\ndata: {}\n\n", "event: error\ndata: {}\n: belay {}\n\n"),
            ("", ""),
        ] {
            let mut out = BytesMut::from(ending);
            comment("{}", &mut out);
            assert_eq!(out, stamped);
        }
    }

    #[test]
    fn a_stamp_stays_one_comment_whatever_is_in_it() {
        let mut out = BytesMut::from("data: [DONE]\n\n");
        comment("{\n\"x\":\r\n1}", &mut out);
        assert_eq!(&out[..], b": belay { \"x\":  1}\ndata: [DONE]\n\n");
    }

    #[test]
    fn no_heartbeat_is_a_block_without_data() {
        for to in Dialect::ALL {
            let mut out = BytesMut::from(heartbeat(*to));
            let is_open = !out.ends_with(b"\n\n");
            assert!(is_open || out.windows(6).any(|six| six == b"\ndata:"), "{to:?}");
            close_heartbeats(*to, "req_1", 7, "a \"b\"", &mut out);
            let told = String::from_utf8(out.to_vec()).unwrap();
            let Some(json) = told.strip_prefix(":\ndata: ") else { continue };
            let chunk: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(chunk["model"], "a \"b\"");
            assert_eq!(chunk["choices"][0]["delta"], serde_json::json!({}));
            assert!(chunk["choices"][0]["finish_reason"].is_null());
        }
    }
}
