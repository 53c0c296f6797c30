//! A bounded, linear reader of `text/event-stream`.
//!
//! The bytes come from a provider and are not trusted. Other decoders keep a line for as long as it
//! grows, or search it again at every read. This one looks at each byte once, keeps nothing of
//! comments and unknown fields, and stops at a limit.
//!
//! It works on bytes, not on text: a character that is split by two reads is whole again in the
//! event, and only CR, LF and CRLF end a line.

use memchr::memchr2;

/// The longest field name that matters is `event`: six bytes with its colon.
const HEAD: usize = 6;

/// An event's name is only compared with a few known names, so a long one is cut.
const MAX_NAME: usize = 64;

/// A buffer that grew beyond this size is freed after its event.
const KEEP: usize = 64 * 1024;

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// One dispatched event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty where there was none. Cut to 64 bytes.
    pub name: &'a [u8],
    /// The `data` lines, joined with LF.
    pub data: &'a [u8],
    /// Whether there were several `data` lines, that is: whether `data` holds an LF.
    pub joined: bool,
}

/// What a decoder found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<'a> {
    /// An event with at least one `data` line.
    Event(Event<'a>),
    /// A comment line has begun. Its text is not kept.
    Comment,
    /// An event over the limit. The decoder reads nothing after it.
    TooLarge,
}

/// The kind of the current, unfinished line, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Too short to know; its bytes are in `head`.
    Unknown,
    /// A `data` field. `fresh`: no byte of the value was seen, so a space may be dropped.
    Data { fresh: bool },
    /// An `event` field.
    Name { fresh: bool },
    /// A comment, `id`, `retry` or anything else.
    Skipped,
}

/// Turns reads of any size into events.
#[derive(Debug)]
pub struct Decoder {
    max_event: usize,
    /// How many bytes of the byte-order mark were read; 3: none is expected any more.
    bom: usize,
    /// The last line ended with CR at the end of a read: an LF here belongs to it.
    after_cr: bool,
    line: Line,
    head: [u8; HEAD],
    head_len: usize,
    /// Bytes of the current line that were read and not kept.
    skipped: usize,
    data: Vec<u8>,
    data_lines: usize,
    name: Vec<u8>,
    /// `data` and `name` were handed out and are cleared at the next call.
    spent: bool,
    failed: bool,
}

impl Decoder {
    /// A decoder that refuses events with more than `max_event` bytes of data.
    #[must_use]
    pub const fn new(max_event: usize) -> Self {
        Self {
            max_event,
            bom: 0,
            after_cr: false,
            line: Line::Unknown,
            head: [0; HEAD],
            head_len: 0,
            skipped: 0,
            data: Vec::new(),
            data_lines: 0,
            name: Vec::new(),
            spent: false,
            failed: false,
        }
    }

    /// Reads on in `input`, and moves it past what was read, until an item is found. `None`:
    /// `input` is used up.
    ///
    /// If an event lies in `input` as one `data` line, it is borrowed from there and not copied.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<Item<'a>> {
        self.begin();
        if self.failed {
            *input = &[];
            return None;
        }
        self.skip_bom(input);
        while !input.is_empty() {
            if self.after_cr {
                self.after_cr = false;
                if let Some(rest) = input.strip_prefix(b"\n") {
                    *input = rest;
                    continue;
                }
            }
            let whole = match self.line_in(input) {
                Ok(whole) => whole,
                Err(Found::Comment) => return Some(Item::Comment),
                Err(Found::TooLarge) => return Some(self.fail(input)),
                Err(Found::EndOfInput) => return None,
            };
            match self.finish_line(whole, input) {
                Ok(None) => {}
                Ok(Some(Dispatch::Lent(data))) => {
                    self.spent = true;
                    return Some(Item::Event(Event { name: &self.name, data, joined: false }));
                }
                Ok(Some(Dispatch::Kept)) => return Some(Item::Event(self.dispatch())),
                Err(TooLarge) => return Some(self.fail(input)),
            }
        }
        None
    }

    /// Call this when the body has ended. Returns the event that was not closed by a blank line, if
    /// it has a `data` field.
    ///
    /// Browsers drop such an event. But several providers end their streams so, without an error.
    /// The caller must judge whether the data is whole.
    pub fn finish(&mut self) -> Option<Event<'_>> {
        self.begin();
        if self.failed || self.data_lines == 0 {
            return None;
        }
        Some(self.dispatch())
    }

    /// How many bytes are held for the unfinished event.
    #[must_use]
    pub fn held(&self) -> usize {
        self.data.capacity() + self.name.capacity()
    }

    fn begin(&mut self) {
        if !self.spent {
            return;
        }
        self.spent = false;
        self.data_lines = 0;
        self.name.clear();
        if self.data.capacity() > KEEP {
            self.data = Vec::new();
        } else {
            self.data.clear();
        }
    }

    fn dispatch(&mut self) -> Event<'_> {
        self.spent = true;
        Event { name: &self.name, data: &self.data, joined: self.data_lines > 1 }
    }

    fn fail<'a>(&mut self, input: &mut &[u8]) -> Item<'a> {
        self.failed = true;
        self.data = Vec::new();
        *input = &[];
        Item::TooLarge
    }

    /// Drops one byte-order mark, even if it comes in pieces. If only a part of the mark comes, the
    /// line that starts with it is skipped: it holds no field that matters.
    fn skip_bom(&mut self, input: &mut &[u8]) {
        while let Some(&expected) = BOM.get(self.bom) {
            let Some((&byte, rest)) = input.split_first() else { return };
            if byte != expected {
                if self.bom > 0 {
                    self.line = Line::Skipped;
                }
                self.bom = BOM.len();
                return;
            }
            self.bom += 1;
            *input = rest;
        }
    }

    /// Reads to the end of the line. `Ok(Some)`: all of the line lies in `input`;
    /// `Ok(None)`: its earlier part is in the decoder's state, up to date.
    fn line_in<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Found> {
        let fresh = self.line == Line::Unknown && self.head_len == 0;
        if fresh && input.first() == Some(&b':') {
            self.line = Line::Skipped;
            *input = input.get(1..).unwrap_or_default();
            return Err(Found::Comment);
        }
        let end = memchr2(b'\n', b'\r', input);
        let (part, rest) = input.split_at_checked(end.unwrap_or(input.len())).unwrap_or_default();
        let Some((&ender, rest)) = rest.split_first() else {
            *input = &[];
            self.extend_line(part).map_err(|TooLarge| Found::TooLarge)?;
            return Err(Found::EndOfInput);
        };
        *input = rest;
        self.after_cr = ender == b'\r';
        if fresh {
            return Ok(Some(part));
        }
        self.extend_line(part).map_err(|TooLarge| Found::TooLarge)?;
        Ok(None)
    }

    /// Adds a part of an unfinished line to what is kept of it.
    fn extend_line(&mut self, mut part: &[u8]) -> Result<(), TooLarge> {
        while self.line == Line::Unknown {
            let Some((&byte, rest)) = part.split_first() else { return Ok(()) };
            part = rest;
            if let Some(slot) = self.head.get_mut(self.head_len) {
                *slot = byte;
                self.head_len += 1;
            }
            self.line = match self.head.get(..self.head_len).unwrap_or_default() {
                b"data:" => {
                    self.open_data_line()?;
                    Line::Data { fresh: true }
                }
                b"event:" => {
                    self.name.clear();
                    Line::Name { fresh: true }
                }
                head if head.len() == HEAD || byte == b':' => {
                    self.skip(self.head_len)?;
                    Line::Skipped
                }
                _ => Line::Unknown,
            };
        }
        if part.is_empty() {
            return Ok(());
        }
        match self.line {
            Line::Data { fresh } => {
                self.line = Line::Data { fresh: false };
                self.extend_data(if fresh { without_space(part) } else { part })
            }
            Line::Name { fresh } => {
                self.line = Line::Name { fresh: false };
                self.extend_name(if fresh { without_space(part) } else { part });
                self.skip(part.len())
            }
            Line::Unknown | Line::Skipped => self.skip(part.len()),
        }
    }

    /// Counts the bytes of a line that are not kept as data: a line that never ends is not part of
    /// an event stream.
    const fn skip(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.skipped = self.skipped.saturating_add(bytes);
        if self.skipped > self.max_event { Err(TooLarge) } else { Ok(()) }
    }

    /// Handles a line that has ended. `rest` is what follows it in the read.
    fn finish_line<'a>(
        &mut self,
        whole: Option<&'a [u8]>,
        rest: &mut &'a [u8],
    ) -> Result<Option<Dispatch<'a>>, TooLarge> {
        let state = std::mem::replace(&mut self.line, Line::Unknown);
        let head_len = std::mem::take(&mut self.head_len);
        self.skipped = 0;
        let line = match (whole, state) {
            (Some(line), _) => line,
            // A line that ended before its kind was known is all in `head`.
            (None, Line::Unknown) => {
                let bare_data = self.head.get(..head_len) == Some(b"data");
                let bare_name = self.head.get(..head_len) == Some(b"event");
                return self.bare(bare_data, bare_name, head_len);
            }
            (None, _) => return Ok(None),
        };
        if line.is_empty() {
            if self.data_lines > 0 {
                return Ok(Some(Dispatch::Kept));
            }
            self.name.clear();
        } else if let Some(value) = line.strip_prefix(b"data:") {
            let value = without_space(value);
            if self.data_lines == 0 && self.take_blank_line(rest) {
                if value.len() > self.max_event {
                    return Err(TooLarge);
                }
                return Ok(Some(Dispatch::Lent(value)));
            }
            self.open_data_line()?;
            self.extend_data(value)?;
        } else if let Some(value) = line.strip_prefix(b"event:") {
            self.skip(value.len())?;
            self.skipped = 0;
            self.name.clear();
            self.extend_name(without_space(value));
        } else {
            return self.bare(line == b"data", line == b"event", line.len());
        }
        Ok(None)
    }

    /// Handles a line without a colon. A bare field name has an empty value; other such lines are
    /// ignored.
    fn bare<'a>(
        &mut self,
        data: bool,
        name: bool,
        len: usize,
    ) -> Result<Option<Dispatch<'a>>, TooLarge> {
        if data {
            self.open_data_line()?;
        } else if name {
            self.name.clear();
        } else if len > self.max_event {
            return Err(TooLarge);
        }
        Ok(None)
    }

    /// Reads the blank line that closes the event, if it has already arrived.
    fn take_blank_line<'a>(&mut self, rest: &mut &'a [u8]) -> bool {
        // The CR of this line's own CRLF was read; its LF must not count as a blank line.
        let whole: &'a [u8] = rest;
        let after = if self.after_cr { whole.strip_prefix(b"\n").unwrap_or(whole) } else { whole };
        let Some((&ender @ (b'\n' | b'\r'), next)) = after.split_first() else { return false };
        // If the CR is the last byte of the read, an LF may follow: `after_cr` remembers that.
        self.after_cr = ender == b'\r';
        *rest = next;
        true
    }

    fn open_data_line(&mut self) -> Result<(), TooLarge> {
        self.data_lines += 1;
        if self.data_lines > 1 { self.extend_data(b"\n") } else { Ok(()) }
    }

    fn extend_data(&mut self, value: &[u8]) -> Result<(), TooLarge> {
        if value.len() > self.max_event.saturating_sub(self.data.len()) {
            return Err(TooLarge);
        }
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn extend_name(&mut self, value: &[u8]) {
        let room = MAX_NAME.saturating_sub(self.name.len()).min(value.len());
        self.name.extend_from_slice(value.get(..room).unwrap_or_default());
    }
}

struct TooLarge;

/// Why a line could not be read to its end.
enum Found {
    Comment,
    EndOfInput,
    TooLarge,
}

enum Dispatch<'a> {
    /// The event's data lies in the read.
    Lent(&'a [u8]),
    /// The event's data lies in the decoder.
    Kept,
}

fn without_space(value: &[u8]) -> &[u8] {
    value.strip_prefix(b" ").unwrap_or(value)
}
