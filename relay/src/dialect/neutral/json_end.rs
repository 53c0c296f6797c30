//! Where a JSON value that comes in pieces ends.

/// Follows the pieces of a tool call's arguments, escaped as they come, and knows when
/// the JSON in them is whole. Looks at each byte once and keeps none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonEnd {
    depth: usize,
    in_string: bool,
    /// The last character of the JSON was a backslash in a string.
    escaped: bool,
    /// The last character of the piece was the backslash of the outer escape.
    outer: bool,
    begun: bool,
    /// Free text has no end that could be seen.
    free: bool,
}

impl JsonEnd {
    /// For arguments that are JSON, or free text.
    #[must_use]
    pub const fn new(free: bool) -> Self {
        Self { depth: 0, in_string: false, escaped: false, outer: false, begun: false, free }
    }

    /// Takes in a piece, escaped as between the quotes of a JSON string.
    pub fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            if self.outer {
                self.outer = false;
                match byte {
                    b'"' | b'\\' | b'/' => self.character(byte),
                    // Spaces, or characters beyond ASCII, or control characters: none of
                    // them ends anything. `\u0022` and its like are not written by anyone.
                    _ => self.escaped = false,
                }
            } else if byte == b'\\' {
                self.outer = true;
            } else {
                self.character(byte);
            }
        }
    }

    /// Whether the value is whole. Only objects and arrays have an end that can be seen.
    #[must_use]
    pub const fn is_reached(&self) -> bool {
        !self.free && self.begun && self.depth == 0
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

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;

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
    fn free_text_and_nothing_have_no_end() {
        let mut free = JsonEnd::new(true);
        free.feed("{}");
        assert!(!free.is_reached());
        assert!(!JsonEnd::new(false).is_reached());
    }
}
