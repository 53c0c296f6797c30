//! Writes a payload as an event of the client's stream: lines end with LF, and the data is one
//! line.

use bytes::{BufMut as _, BytesMut};

/// Writes `data: {json}` and a blank line. CR and LF can only be white space between JSON tokens,
/// so each is written as a space, which keeps the event on one line.
pub(crate) fn data(json: &str, out: &mut BytesMut) {
    const LEAD: &[u8] = b"data: ";
    out.reserve(LEAD.len() + json.len() + 2);
    out.put_slice(LEAD);
    let mut rest = json.as_bytes();
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        let (line, after) = rest.split_at_checked(at).unwrap_or_default();
        out.put_slice(line);
        out.put_u8(b' ');
        rest = after.get(1..).unwrap_or_default();
    }
    out.put_slice(rest);
    out.put_slice(b"\n\n");
}

/// Writes `event: {name}`, then the data. `name` must not have a line end.
pub(crate) fn named(name: &str, json: &str, out: &mut BytesMut) {
    out.put_slice(b"event: ");
    out.put_slice(name.as_bytes());
    out.put_u8(b'\n');
    data(json, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_end_of_any_kind_splits_an_event() {
        for (json, expected) in
            [("{\n\"a\":1}", "data: { \"a\":1}\n\n"), ("{\r\n\"a\":1\r}", "data: {  \"a\":1 }\n\n")]
        {
            let mut out = BytesMut::new();
            data(json, &mut out);
            assert_eq!(&out[..], expected.as_bytes());
        }
    }
}
