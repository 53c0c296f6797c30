//! HTTP/1.1 answers as the bench's client reads them: a head, then a chunked body.

use crate::Res;
use crate::wire::find;

/// Where a reader of one answer stands.
#[derive(Debug)]
enum State {
    Head(Vec<u8>),
    Size(usize),
    Extension(usize),
    Data(usize),
    AfterData,
    /// Behind the last chunk; how many bytes the current line has.
    Trailer(usize),
    End,
}

/// Decodes one answer, whatever the reads brought.
#[derive(Debug)]
pub(crate) struct Reader {
    state: State,
    /// Whether the head said that the connection ends with this answer.
    pub(crate) close: bool,
}

impl Reader {
    /// For a new answer.
    pub(crate) fn new() -> Self {
        Self { state: State::Head(Vec::new()), close: false }
    }

    /// Takes what a read brought, hands on the body in it; true once the answer is over.
    pub(crate) fn take(
        &mut self,
        mut input: &[u8],
        mut body: impl FnMut(&[u8]) -> Res<()>,
    ) -> Res<bool> {
        if let State::Head(head) = &mut self.state {
            let before = head.len();
            head.extend_from_slice(input);
            let Some(end) = find(head, b"\r\n\r\n") else { return Ok(false) };
            let text =
                String::from_utf8_lossy(head.get(..end).unwrap_or(head)).to_ascii_lowercase();
            if !text.starts_with("http/1.1 200") || !text.contains("transfer-encoding: chunked") {
                let all = String::from_utf8_lossy(head);
                return Err(format!("not a chunked 200: {all}").into());
            }
            self.close = text.contains("connection: close");
            self.state = State::Size(0);
            input = input.get(end + 4 - before..).unwrap_or_default();
        }
        while let Some((&byte, rest)) = input.split_first() {
            match self.state {
                State::Data(left) => {
                    let (data, rest) = input.split_at(left.min(input.len()));
                    body(data)?;
                    input = rest;
                    self.state = match left - data.len() {
                        0 => State::AfterData,
                        left => State::Data(left),
                    };
                    continue;
                }
                State::Size(size) => {
                    self.state = match char::from(byte).to_digit(16) {
                        Some(digit) => State::Size(size * 16 + digit as usize),
                        None if byte == b'\n' => after_size(size),
                        None => State::Extension(size),
                    }
                }
                State::Extension(size) if byte == b'\n' => self.state = after_size(size),
                State::AfterData if byte == b'\n' => self.state = State::Size(0),
                State::Trailer(0) if byte == b'\n' => self.state = State::End,
                State::Trailer(_) if byte == b'\n' => self.state = State::Trailer(0),
                State::Trailer(length) if byte != b'\r' => self.state = State::Trailer(length + 1),
                State::End => return Err("bytes after the end of the answer".into()),
                State::Extension(_) | State::AfterData | State::Trailer(_) | State::Head(_) => {}
            }
            input = rest;
        }
        Ok(matches!(self.state, State::End))
    }
}

fn after_size(size: usize) -> State {
    if size == 0 { State::Trailer(0) } else { State::Data(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5\r\nhello\r\nA;x=y\r\n, you ther\r\n1\r\ne\r\n0\r\nTrailer: x\r\n\r\n";

    #[test]
    fn any_split_gives_the_same_body() {
        for cut in 0..ANSWER.len() {
            let (mut reader, mut body) = (Reader::new(), Vec::new());
            let mut over = false;
            for part in [&ANSWER[..cut], &ANSWER[cut..]] {
                assert!(!over);
                let taken = reader.take(part, |data| {
                    body.extend_from_slice(data);
                    Ok(())
                });
                over = taken.unwrap();
            }
            assert!(over);
            assert_eq!(body, b"hello, you there");
        }
    }

    #[test]
    fn an_error_is_not_an_answer() {
        let refused = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
        assert!(Reader::new().take(refused, |_| Ok(())).is_err());
    }
}
