//! Decodes base64: Anthropic accepts text documents only as text.

/// The text in `data`; `None`: it is not base64, or not UTF-8.
pub(crate) fn decode_text(data: &str) -> Option<String> {
    let mut out = Vec::with_capacity(data.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in data.trim_end_matches('=').bytes() {
        if byte.is_ascii_whitespace() {
            continue;
        }
        bits = (bits << 6) | u32::from(value(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xFF).ok()?);
        }
    }
    // A single character at the end does not make a byte.
    if count == 6 { None } else { String::from_utf8(out).ok() }
}

const fn value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_and_all_else_is_refused() {
        for (data, text) in [
            ("", Some("")),
            ("YQ==", Some("a")),
            ("YWI=", Some("ab")),
            ("YWJj", Some("abc")),
            ("YWJjZA", Some("abcd")),
            ("w6nwn4yN", Some("é🌍")),
            ("w6nw\nn4yN\n", Some("é🌍")),
            ("Pj4-Pz8_", Some(">>>???")),
            ("Pj4+Pz8/", Some(">>>???")),
            ("Y", None),
            ("YW*j", None),
            ("/w==", None),
        ] {
            assert_eq!(decode_text(data).as_deref(), text, "{data}");
        }
    }
}
