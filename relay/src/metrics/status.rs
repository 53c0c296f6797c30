//! Statuses as words of a closed set: a provider may send any number.

/// Those that are told apart, as they are shown.
const WORDS: [&str; 17] = [
    "400", "401", "402", "403", "404", "408", "409", "413", "422", "429", "431", "500", "502",
    "503", "504", "524", "529",
];

/// A provider's status: itself if it is a usual one, its class if not, `none` without a head.
pub(super) fn word(status: Option<u16>) -> &'static str {
    let Some(status) = status else { return "none" };
    let known = WORDS.into_iter().find(|word| word.parse() == Ok(status));
    known.unwrap_or_else(|| class(Some(status)))
}

/// Its class alone.
pub(super) const fn class(status: Option<u16>) -> &'static str {
    match status {
        None => "none",
        Some(200..=299) => "2xx",
        Some(300..=399) => "3xx",
        Some(400..=499) => "4xx",
        Some(500..=599) => "5xx",
        Some(_) => "other",
    }
}
