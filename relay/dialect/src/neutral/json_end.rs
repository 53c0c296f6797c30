//! Finds the end of a JSON value that comes in pieces.

/// Reads the pieces of a tool call's arguments, escaped as they come, and detects when the JSON in
/// them is whole. It looks at each byte once and keeps none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonEnd {
    depth: usize,
    in_string: bool,
    /// The last character of the JSON was a backslash in a string.
    escaped: bool,
    /// The position in an escape of the outer string.
    outer: Outer,
    begun: bool,
    /// The arguments are free text, which has no visible end.
    free: bool,
}

impl JsonEnd {
    /// For arguments that are JSON; `free`: that are free text.
    #[must_use]
    pub const fn new(free: bool) -> Self {
        Self { depth: 0, in_string: false, escaped: false, outer: Outer::None, begun: false, free }
    }

    /// Reads a piece, escaped as between the quotes of a JSON string.
    pub fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            self.outer = match self.outer {
                Outer::None if byte == b'\\' => Outer::Begun,
                Outer::Begun if byte == b'u' => Outer::Code { digits: 0, code: 0 },
                Outer::None => {
                    self.character(byte);
                    Outer::None
                }
                Outer::Begun => {
                    // `\n` and similar escapes end nothing.
                    self.character(if matches!(byte, b'"' | b'\\' | b'/') { byte } else { b' ' });
                    Outer::None
                }
                Outer::Code { digits, code } => self.digit(digits, code, byte),
            };
        }
    }

    /// Reads bytes of JSON that is not escaped.
    pub fn feed_plain(&mut self, json: &[u8]) {
        json.iter().for_each(|byte| self.character(*byte));
    }

    fn digit(&mut self, digits: u8, code: u16, byte: u8) -> Outer {
        let value = char::from(byte).to_digit(16).and_then(|value| u16::try_from(value).ok());
        let code = code.wrapping_mul(16).wrapping_add(value.unwrap_or(0));
        if digits < 3 {
            return Outer::Code { digits: digits + 1, code };
        }
        // Some providers write quotes and braces this way. A character beyond ASCII ends nothing.
        self.character(u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(b' '));
        Outer::None
    }

    /// Whether the value is whole. Only objects and arrays have a visible end.
    #[must_use]
    pub const fn is_reached(&self) -> bool {
        !self.free && self.begun && self.depth == 0
    }

    /// Whether the value has begun and is not whole.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !self.free && self.begun && self.depth > 0
    }

    const fn character(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.begun = true;
                self.depth += 1;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// The position in an escape of the string that holds the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outer {
    None,
    /// After the backslash.
    Begun,
    /// In the digits of `\uXXXX`.
    Code {
        digits: u8,
        code: u16,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neutral::Text;

    #[test]
    fn the_end_is_where_the_last_brace_closes_however_it_is_cut() {
        for json in [
            r#"{}"#,
            r#"{"a":"}","b":[{"c":"\"}\\"}]}"#,
            "{\"é\":\"\\n{[\",\n \"x\": 1.5e3}",
            r#"[1,"]"]"#,
        ] {
            let text = Text::plain(json);
            let escaped = text.escaped();
            for cut in (0..escaped.len()).filter(|cut| escaped.is_char_boundary(*cut)) {
                let mut end = JsonEnd::new(false);
                end.feed(&escaped[..cut]);
                assert!(!end.is_reached(), "{json} at {cut}");
                end.feed(&escaped[cut..]);
                assert!(end.is_reached(), "{json} at {cut}");
            }
        }
    }

    #[test]
    fn quotes_and_braces_may_be_written_by_their_codes() {
        let mut end = JsonEnd::new(false);
        end.feed(r"\u007b\u0022a}\u005c\u0022\u0022:1");
        assert!(!end.is_reached());
        end.feed(r"\u007D");
        assert!(end.is_reached());
    }

    #[test]
    fn free_text_and_nothing_have_no_end() {
        let mut free = JsonEnd::new(true);
        free.feed("{}");
        assert!(!free.is_reached());
        assert!(!JsonEnd::new(false).is_reached());
    }
}
