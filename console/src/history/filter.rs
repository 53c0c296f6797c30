//! What the list is narrowed to: words like `ladder:chat tried:sol since:1h`, which an
//! engineer types; and the presets.

use shared::{AttemptKind, AttemptOutcome, RequestOutcome, UnixMillis};
use std::fmt;

/// What the list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Everything that was not a plain first attempt answered in time.
    #[default]
    Trouble,
    /// What failed.
    Failed,
    /// What ended well because of a later attempt.
    Rescued,
    /// The latest first tokens.
    Worst,
    /// The dearest.
    Dear,
    /// All.
    All,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Trouble, Self::Failed, Self::Rescued, Self::Worst, Self::Dear, Self::All];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trouble => "Trouble",
            Self::Failed => "Failed",
            Self::Rescued => "Rescued",
            Self::Worst => "Worst",
            Self::Dear => "Dear",
            Self::All => "All",
        }
    }

    /// The one so many places further, round and round.
    #[must_use]
    pub fn step(self, by: isize) -> Self {
        let place = Self::ALL.iter().position(|other| *other == self).unwrap_or(0);
        let count = Self::ALL.len();
        let place = (place + count).saturating_add_signed(by) % count;
        Self::ALL.get(place).copied().unwrap_or_default()
    }

    /// Its order.
    #[must_use]
    pub const fn sort(self) -> Sort {
        match self {
            Self::Worst => Sort::Ttft,
            Self::Dear => Sort::Cost,
            _ => Sort::At,
        }
    }

    /// The filters that it stands for.
    #[must_use]
    pub fn query(self) -> Vec<(String, String)> {
        let pair = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        match self {
            Self::Trouble => pair("trouble", "true"),
            Self::Failed => pair("outcome", "failed"),
            Self::Rescued => pair("rescued", "true"),
            Self::Worst | Self::Dear | Self::All => Vec::new(),
        }
    }
}

/// In which order, all of them greatest first. The relay sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By time.
    #[default]
    At,
    /// By cost.
    Cost,
    /// By time to first token.
    Ttft,
    /// By the time until the end.
    Total,
    /// By the number of attempts.
    Attempts,
}

impl Sort {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::At, Self::Cost, Self::Ttft, Self::Total, Self::Attempts];

    /// As the relay knows it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::At => "-at",
            Self::Cost => "-cost",
            Self::Ttft => "-ttft",
            Self::Total => "-total",
            Self::Attempts => "-attempts",
        }
    }

    /// The next one, round and round.
    #[must_use]
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|other| *other == self).unwrap_or(0);
        Self::ALL.get(place + 1).copied().unwrap_or_default()
    }
}

/// Which span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The last so many milliseconds.
    Last(i64),
    /// From a moment to another, or to now, by the relays' clock.
    Between(UnixMillis, Option<UnixMillis>),
    /// All that is kept.
    All,
}

impl Default for Window {
    /// The last 15 minutes.
    fn default() -> Self {
        Self::Last(15 * 60_000)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Between(since, None) => write!(f, "{since}"),
            Self::Between(since, Some(until)) => write!(f, "{since}..{until}"),
            Self::Last(ms) => match ms / 1_000 {
                s if s % 86_400 == 0 => write!(f, "{}d", s / 86_400),
                s if s % 3_600 == 0 => write!(f, "{}h", s / 3_600),
                s if s % 60 == 0 => write!(f, "{}m", s / 60),
                s => write!(f, "{s}s"),
            },
        }
    }
}

impl Window {
    fn parse(text: &str) -> Option<Self> {
        if text == "all" {
            return Some(Self::All);
        }
        if let Some((since, until)) = text.split_once("..") {
            return Some(Self::Between(since.parse().ok()?, Some(until.parse().ok()?)));
        }
        if let Ok(since) = text.parse() {
            return Some(Self::Between(since, None));
        }
        let (count, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let each = match unit {
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        let count: i64 = count.parse().ok().filter(|count| (1..=100_000).contains(count))?;
        Some(Self::Last(count * each))
    }

    /// Its beginning and its end at `now`.
    #[must_use]
    pub const fn bounds(self, now: UnixMillis) -> (Option<UnixMillis>, Option<UnixMillis>) {
        match self {
            Self::Last(ms) => (Some(UnixMillis(now.0 - ms)), None),
            Self::Between(since, until) => (Some(since), until),
            Self::All => (None, None),
        }
    }
}

/// What the list is narrowed to; a field that is `None` leaves all in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// The ladder walked.
    pub ladder: Option<String>,
    /// A rung that was called, whether it answered or not.
    pub tried: Option<String>,
    /// The rung that answered.
    pub answered_by: Option<String>,
    /// How the request ended.
    pub outcome: Option<RequestOutcome>,
    /// How an attempt ended.
    pub ended: Option<AttemptOutcome>,
    /// A kind of which an attempt was made.
    pub kind: Option<AttemptKind>,
    /// The client key's name.
    pub tenant: Option<String>,
    /// When.
    pub since: Window,
}

/// The words that can be typed.
pub const WORDS: &str =
    "ladder: tried: by: outcome: ended: kind: tenant: since: (15m, 2h, 3d, all, a moment)";

/// What is not understood of what was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrongFilter {
    /// A word that is no filter.
    Unknown(String),
    /// A value that its filter does not have.
    Value {
        /// The filter.
        key: String,
        /// What is wrong with the value.
        why: String,
    },
}

impl fmt::Display for WrongFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "'{word}' is no filter; these are: {WORDS}"),
            Self::Value { key, why } => write!(f, "{key}: {why}"),
        }
    }
}

impl Filter {
    /// What was typed.
    ///
    /// # Errors
    /// The word that is not understood, and what would be.
    pub fn parse(text: &str) -> Result<Self, WrongFilter> {
        let mut filter = Self::default();
        for word in text.split_whitespace() {
            let Some((key, value)) = word.split_once(':').filter(|(_, value)| !value.is_empty())
            else {
                return Err(WrongFilter::Unknown(word.to_owned()));
            };
            let some = || Some(value.to_owned());
            let wrong = |error: &dyn fmt::Display| WrongFilter::Value {
                key: key.to_owned(),
                why: error.to_string(),
            };
            match key {
                "ladder" => filter.ladder = some(),
                "tried" | "rung" => filter.tried = some(),
                "by" | "answered_by" => filter.answered_by = some(),
                "tenant" | "client" => filter.tenant = some(),
                "outcome" => filter.outcome = Some(value.parse().map_err(|e| wrong(&e))?),
                "ended" => filter.ended = Some(value.parse().map_err(|e| wrong(&e))?),
                "kind" => filter.kind = Some(value.parse().map_err(|e| wrong(&e))?),
                "since" => {
                    let why = format!("'{value}' is no span like 15m, 2h or 3d, and no moment");
                    filter.since = Window::parse(value).ok_or_else(|| wrong(&why))?;
                }
                _ => return Err(WrongFilter::Unknown(key.to_owned())),
            }
        }
        Ok(filter)
    }

    fn named(&self) -> Vec<(&'static str, &'static str, String)> {
        let owned = |name: &Option<String>| name.clone();
        let rows = [
            ("ladder", "ladder", owned(&self.ladder)),
            ("tried", "tried", owned(&self.tried)),
            ("by", "answered_by", owned(&self.answered_by)),
            ("outcome", "outcome", self.outcome.map(|outcome| outcome.to_string())),
            ("ended", "ended", self.ended.map(|outcome| outcome.to_string())),
            ("kind", "kind", self.kind.map(|kind| kind.to_string())),
            ("tenant", "client", owned(&self.tenant)),
        ];
        rows.into_iter().filter_map(|(word, key, value)| Some((word, key, value?))).collect()
    }

    /// For a relay whose clock says `now`.
    #[must_use]
    pub fn query(&self, now: UnixMillis) -> Vec<(String, String)> {
        let named = self.named().into_iter();
        let mut query: Vec<_> = named.map(|(_, key, value)| (key.to_owned(), value)).collect();
        query.extend(self.span(now));
        query
    }

    /// Its window alone.
    #[must_use]
    pub fn span(&self, now: UnixMillis) -> Vec<(String, String)> {
        let (since, until) = self.since.bounds(now);
        let pair = |key: &str, at: UnixMillis| (key.to_owned(), at.to_string());
        let since = since.map(|at| pair("since", at));
        since.into_iter().chain(until.map(|at| pair("until", at))).collect()
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, _, value) in self.named() {
            write!(f, "{word}:{value} ")?;
        }
        write!(f, "since:{}", self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_reads_what_it_writes() {
        for text in [
            "since:15m",
            "ladder:chat tried:sol by:opus outcome:failed ended:ttft_timeout kind:hedge tenant:web since:2h",
            "since:3d",
            "since:all",
            "since:2025-11-29T03:00:00.000Z",
            "since:2025-11-29T03:00:00.000Z..2025-11-29T03:05:00.000Z",
            "ladder:a:b since:90s",
        ] {
            let filter = Filter::parse(text).unwrap();
            assert_eq!(filter.to_string(), text);
        }
        assert_eq!(Filter::parse("").unwrap(), Filter::default());
    }

    #[test]
    fn what_is_no_filter_is_told_what_is() {
        for (text, part) in [
            ("sol", "'sol' is no filter"),
            ("rang:sol", "'rang' is no filter"),
            ("ladder:", "no filter"),
            ("outcome:sad", "outcome: "),
            ("since:soon", "no span"),
            ("since:0m", "no span"),
            ("since:m", "no span"),
            ("since:", "no filter"),
        ] {
            let why = Filter::parse(text).unwrap_err();
            assert!(why.to_string().contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn the_query_names_what_the_relay_names() {
        let filter = Filter::parse("by:opus tenant:web since:15m").unwrap();
        let query = filter.query(UnixMillis(1_764_385_451_000));
        let text: Vec<String> = query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(text, ["answered_by=opus", "client=web", "since=2025-11-29T02:49:11.000Z"]);
    }

    #[test]
    fn presets_go_round_both_ways() {
        assert_eq!(Preset::Trouble.step(-1), Preset::All);
        assert_eq!(Preset::All.step(1), Preset::Trouble);
        assert_eq!(Preset::Trouble.step(1), Preset::Failed);
    }
}
