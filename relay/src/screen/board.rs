//! The board: per relay its troubles in words, then every ladder with its rungs.

mod ladder;

use super::text::{Line, Style, Terminal, clock, cut, flow, wrapped};
use shared::UnixMillis;
use shared::admin::{Board, RelayState, Role};
use shared::diagnose::{Level, Rule, Trouble, diagnose};
use shared::figures::span;

/// Lines of trouble that are shown before the rest is counted.
const TROUBLES: usize = 6;
/// A board older than this looks old, in milliseconds.
const OLD: i64 = 5_000;

/// One relay, as far as it is seen.
#[derive(Debug, Clone)]
pub struct View {
    /// Its base URL.
    pub url: String,
    /// What is known of it.
    pub seen: LastBoard,
}

/// What is known of a relay.
#[derive(Debug, Clone)]
pub enum LastBoard {
    /// Its board, and how long ago that came, in milliseconds.
    Board(Box<Board>, i64),
    /// It does not answer any more: its last board, how old that is, and why.
    Lost(Box<Board>, i64, String),
    /// Never a board, and why.
    Nothing(String),
}

impl LastBoard {
    /// Whether it answers.
    #[must_use]
    pub const fn is_well(&self) -> bool {
        matches!(self, Self::Board(..))
    }
}

struct Shown<'a> {
    view: &'a View,
    troubles: Vec<Trouble>,
}

/// Every relay one after another, the worst first; never averaged. With `most` lines to
/// fill, ladders on which all is well shrink to their users' line, and what is still too
/// much is cut and said to be.
#[must_use]
pub fn board(views: &[View], terminal: &Terminal, most: Option<usize>) -> Vec<Line> {
    let full = lines(views, terminal, false);
    let Some(most) = most.filter(|most| full.len() > *most) else {
        return full;
    };
    let mut short = lines(views, terminal, true);
    if short.len() > most {
        let hidden = short.len() - most.saturating_sub(1);
        short.truncate(most.saturating_sub(1));
        short.push(Line::default().and(
            Style::Dim,
            format!("… {hidden} more lines: a taller window, or `belay board` without --watch"),
        ));
    }
    short
}

fn lines(views: &[View], terminal: &Terminal, brief: bool) -> Vec<Line> {
    let mut told: Vec<Shown<'_>> = views
        .iter()
        .map(|view| {
            let troubles = match &view.seen {
                LastBoard::Board(board, _) | LastBoard::Lost(board, ..) => diagnose(board),
                LastBoard::Nothing(_) => Vec::new(),
            };
            Shown { view, troubles }
        })
        .collect();
    told.sort_by_key(rank);
    let mut out = Vec::new();
    if views.len() > 1 {
        out.extend(told.iter().flat_map(|told| summary(told, terminal)));
    }
    for told in &told {
        // Of one that never answered the summary has said all there is.
        if views.len() > 1 && matches!(told.view.seen, LastBoard::Nothing(_)) {
            continue;
        }
        if !out.is_empty() {
            out.push(Line::default());
        }
        relay(told, terminal, brief, &mut out);
    }
    out
}

/// The worst first: who does not answer, then by level and rule.
fn rank(told: &Shown<'_>) -> (bool, Option<Level>, Option<Rule>) {
    let level = told.troubles.iter().map(|line| line.level).min();
    let rule = told.troubles.first().map(|line| line.rule);
    let rank = (told.view.seen.is_well(), level, rule);
    // None sorts first, and stands for: nothing is wrong.
    (rank.0, rank.1.or(Some(Level::Hand)), rank.2.or(Some(Rule::Hand)))
}

fn summary(told: &Shown<'_>, terminal: &Terminal) -> Vec<Line> {
    let name = name(told.view);
    match (&told.view.seen, told.troubles.first()) {
        (LastBoard::Nothing(why) | LastBoard::Lost(_, _, why), _) => {
            wrapped(terminal, "◌", Style::Warning, &format!("{name}: {why}"))
        }
        (_, None) => vec![Line::plain(format!("● {name}: all well"))],
        (_, Some(first)) => {
            let (sign, style) = sign(first.level);
            let count = told.troubles.len();
            let text = cut(&format!("{name}, {count} to know: {}", first.text), terminal.width - 2);
            vec![Line::default().and(style, sign).and(Style::Plain, format!(" {text}"))]
        }
    }
}

fn name(view: &View) -> String {
    let known = match &view.seen {
        LastBoard::Board(board, _) | LastBoard::Lost(board, ..) => board.relay.name.clone(),
        LastBoard::Nothing(_) => None,
    };
    known.unwrap_or_else(|| view.url.clone())
}

const fn sign(level: Level) -> (&'static str, Style) {
    match level {
        Level::Broken => ("▲", Style::Broken),
        Level::Warning => ("◆", Style::Warning),
        Level::Hand => ("■", Style::Hand),
    }
}

fn relay(told: &Shown<'_>, terminal: &Terminal, brief: bool, out: &mut Vec<Line>) {
    let (board, age, lost) = match &told.view.seen {
        LastBoard::Board(board, age) => (board, *age, None),
        LastBoard::Lost(board, age, why) => (board, *age, Some(why)),
        LastBoard::Nothing(why) => {
            let text = format!("{}: {why}", told.view.url);
            out.extend(wrapped(terminal, "◌", Style::Warning, &text));
            return;
        }
    };
    let mut board = board.clone();
    // Countdowns run on by the relay's clock between two boards.
    board.at = UnixMillis(board.at.0.saturating_add(age));
    out.extend(head(&board, &told.view.url, terminal));
    if let Some(why) = lost {
        let text = format!("no news for {}, what follows is old: {why}", span(age));
        out.extend(wrapped(terminal, "◌", Style::Warning, &text));
    } else if age > OLD {
        let text = format!("no news for {}, what follows is old", span(age));
        out.extend(wrapped(terminal, "◌", Style::Warning, &text));
    }
    for line in told.troubles.iter().take(TROUBLES) {
        let (sign, style) = sign(line.level);
        out.extend(wrapped(terminal, sign, style, &line.text));
    }
    let more = told.troubles.len().saturating_sub(TROUBLES);
    if more > 0 {
        out.push(Line::default().and(Style::Dim, format!("  and {more} more to know")));
    }
    if told.troubles.is_empty() {
        out.push(Line::default().and(Style::Dim, "● all well"));
    }
    out.extend(ladder::ladders(&board, terminal, brief));
}

fn head(board: &Board, url: &str, terminal: &Terminal) -> Vec<Line> {
    let RelayState { name, env, started_at, you, operators, journal, drain, .. } = &board.relay;
    let title = [env.as_deref(), name.as_deref()].into_iter().flatten().collect::<Vec<_>>();
    let title = if title.is_empty() { "relay".to_owned() } else { title.join(" ") };
    let who = you.name.as_deref().unwrap_or("no token");
    let role = if you.role == Role::Viewer { ", may only terminal" } else { "" };
    let also: Vec<_> = operators
        .iter()
        .filter_map(|here| here.name.as_deref())
        .filter(|name| Some(*name) != you.name.as_deref())
        .collect();
    let also = if also.is_empty() { String::new() } else { format!(", also {}", also.join(", ")) };
    let up = span(board.at.0.saturating_sub(started_at.0));
    let journal = if journal.ok { "ok" } else { "FAILING" };
    let dim = |text: String| (Style::Dim, text);
    let title = (Style::Bold, title);
    let first = format!("{}  up {up}", clock(board.at));
    let mut pieces = vec![
        dim(format!("{} streams, {} waiting", board.relay.streams, board.relay.waiting)),
        dim(format!("journal {journal}")),
        dim(if drain.on { "STOPPING".to_owned() } else { String::new() }),
        dim(format!("{who}{role}{also}")),
        dim(url.to_owned()),
    ];
    // The title stands apart; the rest is one row of facts.
    let long = title.1.chars().count() + 2;
    let room = Terminal { width: terminal.width.saturating_sub(long), ..*terminal };
    pieces.insert(0, dim(first));
    let mut facts = flow(&room, 0, " · ", pieces.clone());
    if facts.len() > 1 && name.is_some() {
        // Its name tells it from the others; a row is worth more.
        pieces.pop();
        facts = flow(&room, 0, " · ", pieces);
    }
    let left =
        |place| if place == 0 { title.clone() } else { (Style::Plain, " ".repeat(long - 2)) };
    let lines = facts.into_iter().enumerate();
    lines
        .map(|(place, facts)| {
            let (style, text) = left(place);
            Line::default().and(style, text).and(Style::Plain, "  ").join(facts)
        })
        .collect()
}
