//! Durations and sizes as a person writes them: `"15s"`, `"8MiB"`.

use std::ops::RangeInclusive;
use std::time::Duration;

const SECOND: u64 = 1;
const DAY: u64 = 24 * 60 * 60 * SECOND;

/// A clock or pause: longer than nothing, at most a day. The upper end keeps a
/// slip such as `"90M"` (months!) out, and time arithmetic far from overflow.
pub(super) const CLOCK: RangeInclusive<Duration> =
    Duration::from_nanos(1)..=Duration::from_secs(DAY);

/// As [`CLOCK`], where nothing at all has a meaning, such as "do not wait".
pub(super) const PAUSE: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(DAY);

/// How long records are kept: a minute to ten years.
pub(super) const RETENTION: RangeInclusive<Duration> =
    Duration::from_secs(60)..=Duration::from_secs(3653 * DAY);

/// One kibibyte.
pub(super) const KIB: u64 = 1 << 10;
/// One mebibyte.
pub(super) const MIB: u64 = 1 << 20;
/// One gibibyte.
pub(super) const GIB: u64 = 1 << 30;

/// Why a text is no duration or no size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) String);

/// Reads `"15s"`, `"250ms"`, `"1m 30s"`.
pub(super) fn duration(text: &str) -> Result<Duration, Unreadable> {
    // humantime 2.4 panics on sums that reach u64::MAX seconds; short texts of
    // short numbers cannot.
    if text.len() > 64 || longest_number(text) > 9 {
        return Err(Unreadable("is longer than any duration that makes sense".to_owned()));
    }
    humantime::parse_duration(text).map_err(|error| Unreadable(format!("is no duration: {error}")))
}

/// The length of the longest run of digits. Blanks do not end one, since
/// humantime reads `1 5s` as 15 s.
fn longest_number(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0_usize);
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        run = if c.is_ascii_digit() { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A duration as messages show it.
pub(super) fn show_duration(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// The units of a size, longest spelling first where one ends in another.
const SIZES: &[(&str, u64)] = &[
    ("KiB", KIB),
    ("MiB", MIB),
    ("GiB", GIB),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// Reads `"8MiB"`, `"4 GiB"`, `"500 kB"`, `"512B"`, in bytes.
pub(super) fn size(text: &str) -> Result<u64, Unreadable> {
    let unknown = || Unreadable("is no size".to_owned());
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(unknown)?;
    let (number, unit) = text.split_at(split);
    let unit = unit.trim_start();
    let number: u64 = number.parse().map_err(|_| unknown())?;
    let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit).ok_or_else(unknown)?;
    number.checked_mul(*factor).ok_or_else(|| Unreadable("is too large".to_owned()))
}

/// A size as messages show it, in the largest unit that divides it.
pub(super) fn show_size(bytes: u64) -> String {
    for (factor, unit) in [(1 << 40, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")] {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{}{unit}", bytes / factor);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("15s"), Ok(Duration::from_secs(15)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("30 days"), Ok(Duration::from_secs(30 * DAY)));
        for bad in ["", " ", "15", "s", "15 parsecs", "-1s", "1.s", "15s,", "∞"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_that_overflow_humantime_are_refused_not_a_panic() {
        for bad in [
            "18446744073709551615s 1000000000ns",
            "1844674407370955 1615s 1000000000ns",
            "1844674407370955\u{a0}1615s 1000ms",
            "99999999999999999999y",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in
            [("8MiB", 8 * MIB), ("4 GiB", 4 * GIB), ("512B", 512), ("2 MB", 2_000_000), ("0B", 0)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "8", "MiB", "8M", "8mib", "-1B", "1.5GiB", "99999999999TiB", "8MiB x"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(show_size(32 * MIB), "32MiB");
        assert_eq!(show_size(1_000), "1000 bytes");
    }
}
