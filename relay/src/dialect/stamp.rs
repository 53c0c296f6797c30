//! What the relay says beside the answer: comments, which no SSE client reads
//! as data.

use bytes::{BufMut as _, BytesMut};

/// A comment that keeps a silent connection open.
///
/// The blank line ends the block, so that a client which splits at blank lines
/// never sees a comment glued to the event after it.
pub const HEARTBEAT: &[u8] = b": \n\n";

/// Writes `: belay {json}` as a block of its own.
///
/// A line end inside `json` would end the comment and turn the rest into
/// fields, so it is written as a space.
pub fn comment(json: &str, out: &mut BytesMut) {
    const LEAD: &[u8] = b": belay ";
    out.reserve(LEAD.len() + json.len() + 2);
    out.put_slice(LEAD);
    for (n, line) in json.split(['\r', '\n']).enumerate() {
        if n > 0 {
            out.put_u8(b' ');
        }
        out.put_slice(line.as_bytes());
    }
    out.put_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_stays_one_comment_whatever_is_in_it() {
        let mut out = BytesMut::new();
        comment("{\"rung\":\"a\"}", &mut out);
        comment("{\n\"x\":\r\n1}", &mut out);
        assert_eq!(&out[..], b": belay {\"rung\":\"a\"}\n\n: belay { \"x\":  1}\n\n");
    }
}
