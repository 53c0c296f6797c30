//! Finds out whether given words are in a request.
//!
//! Providers quote what they were sent. If the words of an error are also in the request, they may
//! be the client's own, so they prove nothing about the rung. The search runs only after an error
//! whose words have a meaning.

/// Whether `words` are in `json`, whatever their case and however they are escaped.
#[must_use]
pub fn is_quoted(json: &[u8], words: &str) -> bool {
    let words = words.as_bytes();
    let Some(first) = words.first() else { return false };
    let mut rest = json;
    while let Some((byte, after)) = rest.split_first() {
        if (*byte == b'\\' || byte.eq_ignore_ascii_case(first)) && begins_with(rest, words) {
            return true;
        }
        rest = after;
    }
    false
}

fn begins_with(mut json: &[u8], mut words: &[u8]) -> bool {
    while !words.is_empty() {
        let mut room = [0; 4];
        let Some((text, after)) = next(json, &mut room) else { return false };
        let Some((head, tail)) = words.split_at_checked(text.len()) else { return false };
        if !head.eq_ignore_ascii_case(text) {
            return false;
        }
        (json, words) = (after, tail);
    }
    true
}

/// The next character or byte of a JSON text, unescaped, and the text after it.
fn next<'a, 'b>(json: &'a [u8], room: &'b mut [u8; 4]) -> Option<(&'b [u8], &'a [u8])> {
    match json {
        [b'\\', b'u', hex @ ..] => {
            let (digits, after) = hex.split_at_checked(4)?;
            let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            Some((char::from_u32(code)?.encode_utf8(room).as_bytes(), after))
        }
        [b'\\', escaped, after @ ..] => {
            let [first, ..] = room;
            *first = match escaped {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                other => *other,
            };
            Some((std::slice::from_ref(first), after))
        }
        _ => {
            let (byte, after) = json.split_first()?;
            let [first, ..] = room;
            *first = *byte;
            Some((std::slice::from_ref(first), after))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::common::quoted::is_quoted;

    #[test]
    fn words_are_found_however_they_are_written() {
        for (json, found) in [
            (r#"{"content":"my credit balance is too low"}"#, true),
            (r#"{"content":"My CREDIT Balance is too low"}"#, true),
            (r#"{"content":"\u0063redit balance\u0020is too lo\u0077"}"#, true),
            (r#"{"content":"credit balance is too"}"#, false),
            (r#"{"content":"credit credit balance is too low"}"#, true),
            (r#"{"content":"credit\nbalance is too low"}"#, false),
            (r#"{"content":"credit balance is too l\u"}"#, false),
            ("", false),
        ] {
            assert_eq!(is_quoted(json.as_bytes(), "credit balance is too low"), found, "{json}");
        }
        assert!(is_quoted(br#"{"a":"x \"y\" z\/"}"#, "\"y\" z/"));
        assert!(is_quoted(r#"{"a":"caf\u00e9"}"#.as_bytes(), "café"));
        assert!(!is_quoted(b"anything", ""));
    }
}
