//! Lines of styled text, and how they fit a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How a piece of text is drawn. The three that matter differ by more than hue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// Of less weight.
    Dim,
    /// A heading.
    Bold,
    /// Broken: a filled block.
    Broken,
    /// A warning.
    Warning,
    /// An operator's hand.
    Hand,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\x1b[2m",
            Self::Bold => "\x1b[1m",
            Self::Broken => "\x1b[1;97;41m",
            Self::Warning => "\x1b[33m",
            Self::Hand => "\x1b[4;94m",
        }
    }
}

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Columns, 80 to 200.
    pub width: usize,
    /// Whether styles become colours.
    pub colours: bool,
    /// Whether only ASCII can be shown.
    pub ascii: bool,
}

impl Terminal {
    /// The narrowest screen that is drawn for.
    pub const NARROWEST: usize = 80;
    /// The widest.
    pub const WIDEST: usize = 200;

    /// A line as it is written to the terminal, no wider than it.
    #[must_use]
    pub fn paint(&self, line: &Line) -> String {
        let mut out = String::new();
        let mut room = self.width;
        for (style, text) in &line.0 {
            let mut text = cut(text, room);
            room = room.saturating_sub(text.width());
            if self.ascii {
                text = text.chars().map(ascii).collect();
            }
            if self.colours && *style != Style::Plain && !text.is_empty() {
                out.push_str(style.code());
                out.push_str(&text);
                out.push_str("\x1b[0m");
            } else {
                out.push_str(&text);
            }
        }
        if self.colours { out } else { out.trim_end().to_owned() }
    }

    /// All of them, with line ends.
    #[must_use]
    pub fn page(&self, lines: &[Line]) -> String {
        lines.iter().map(|line| self.paint(line) + "\n").collect()
    }
}

/// A line of styled pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line(Vec<(Style, String)>);

impl Line {
    /// One plain piece.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::default().and(Style::Plain, text)
    }

    /// With one more piece. Control characters are taken out: a name or reason from
    /// elsewhere must not command the terminal.
    #[must_use]
    pub fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, clean(&text.into())));
        self
    }

    /// Filled up with spaces to `width`.
    #[must_use]
    pub(super) fn filled(self, width: usize) -> Self {
        let have = self.0.iter().map(|(_, text)| text.width()).sum::<usize>();
        self.and(Style::Plain, " ".repeat(width.saturating_sub(have)))
    }

    pub(super) fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

/// Pieces with `between` between them, on as many lines as they need: what comes last is
/// often what matters most, and must not be cut.
pub(super) fn flow(
    terminal: &Terminal,
    indent: usize,
    between: &str,
    pieces: Vec<(Style, String)>,
) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut used = 0;
    for (style, text) in pieces.into_iter().filter(|(_, text)| !text.is_empty()) {
        let (long, gap) = (text.width(), between.width());
        match lines.last_mut() {
            Some(line) if used + gap + long <= terminal.width => {
                // A gap looks like what follows it, so that dim separators stay dim.
                let gap_style = if style == Style::Dim { Style::Dim } else { Style::Plain };
                *line = std::mem::take(line).and(gap_style, between).and(style, text);
                used += gap + long;
            }
            Some(_) => {
                lines.push(Line::plain(" ".repeat(indent)).and(style, text));
                used = indent + long;
            }
            None => {
                lines.push(Line::default().and(style, text));
                used = long;
            }
        }
    }
    lines
}

/// Long text in one style, on as many lines as it needs, after a sign.
pub(super) fn wrapped(terminal: &Terminal, sign: &str, style: Style, text: &str) -> Vec<Line> {
    let indent = sign.width() + 1;
    let room = terminal.width.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = vec![String::new()];
    for word in clean(text).split(' ') {
        let fits = lines
            .last()
            .is_some_and(|line| line.is_empty() || line.width() + 1 + word.width() <= room);
        if !fits {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    let first = |place| if place == 0 { sign.to_owned() } else { " ".repeat(indent - 1) };
    let lines = lines.into_iter().enumerate();
    // The sign carries the colour; a block of coloured text is hard to read.
    let style = |place| if place == 0 { style } else { Style::Plain };
    lines
        .map(|(place, text)| {
            Line::default().and(style(place), first(place)).and(Style::Plain, format!(" {text}"))
        })
        .collect()
}

/// At most `room` columns of it; what was cut shows as `…`.
pub(super) fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut left = room.saturating_sub(1);
    let fits = |c: &char| {
        let fitted = left.checked_sub(c.width().unwrap_or(0));
        left = fitted.unwrap_or(0);
        fitted.is_some()
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    if room > 0 {
        cut.push('…');
    }
    cut
}

/// Cut or filled up to exactly `width` columns.
pub(super) fn fit(text: &str, width: usize) -> String {
    let text = cut(&clean(text), width);
    let rest = width.saturating_sub(text.width());
    text + &" ".repeat(rest)
}

fn clean(text: &str) -> String {
    // Right-to-left marks are no control characters, and turn a line around all the same.
    let turns = |c| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { ' ' } else { c }).collect()
}

/// What stands for a sign where only ASCII can be shown; as wide as it.
fn ascii(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        '▲' => '!',
        '◆' => '*',
        '■' => '#',
        '×' => 'x',
        '‖' => '=',
        '◐' => '%',
        '●' => '.',
        '○' => 'o',
        '◌' | '…' => '~',
        '–' | '─' => '-',
        '→' => '>',
        '·' => '|',
        '═' => '=',
        '▼' => 'v',
        _ => '?',
    }
}

/// A time as it is said at `now`: `03:04:11Z` of today, `11-29 23:04Z` of another day, and
/// the year where it is another one.
#[must_use]
pub fn moment(at: shared::UnixMillis, now: shared::UnixMillis) -> String {
    let (text, today) = (at.to_string(), now.to_string());
    let same = |length: usize| text.get(..length) == today.get(..length);
    let day = |from: usize| text.get(from..16).unwrap_or_default().replace('T', " ") + "Z";
    match (same(4), same(10)) {
        (_, true) => clock(at),
        (true, false) => day(5),
        (false, false) => day(0),
    }
}

/// `03:04:11Z` of a time of today.
pub(super) fn clock(at: shared::UnixMillis) -> String {
    let text = at.to_string();
    let time = text.get(11..19).unwrap_or_default();
    format!("{time}Z")
}
