//! Figures for people: spans, shares, money. Unknown is `–`, never 0.

/// What is shown where nothing is known.
pub const UNKNOWN: &str = "–";

/// A span in milliseconds in its largest fitting unit: `0.9 s`, `42 s`, `12 min`, `3 h`, `9 d`.
#[must_use]
pub fn span(ms: i64) -> String {
    let ms = ms.max(0);
    let s = ms / 1000;
    match s {
        0..10 => format!("{}.{} s", s, ms % 1000 / 100),
        10..120 => format!("{s} s"),
        120..7200 => format!("{} min", s / 60),
        7200..172_800 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// A latency: `180 ms`, `1.4 s`, `42 s`.
#[must_use]
pub fn wait(ms: Option<u64>) -> String {
    match ms {
        None => UNKNOWN.to_owned(),
        Some(ms @ 0..1_000) => format!("{ms} ms"),
        Some(ms) => span(i64::try_from(ms).unwrap_or(i64::MAX)),
    }
}

/// The time that is left, as a clock: `0:18`, `11:42`, `3:12:00`.
#[must_use]
pub fn countdown(ms: i64) -> String {
    // Rounded up: as long as any time is left, it has not ended.
    let s = ms.max(0).saturating_add(999) / 1000;
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

/// A share 0..1 in percent; with one decimal if it is above 0 and below 10 %.
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    match share {
        None => UNKNOWN.to_owned(),
        Some(share) if share > 0.0 && share < 0.0995 => format!("{:.1} %", share * 100.0),
        Some(share) => format!("{:.0} %", share * 100.0),
    }
}

/// `part` of `whole` as a share; `None` if `whole` is 0.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of a minute")]
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Nano-dollars per second as dollars an hour.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "display only")]
pub fn per_hour(nps: u64) -> String {
    let usd = nps as f64 * 3600.0 / 1e9;
    let text = if usd == 0.0 {
        "0".to_owned()
    } else if usd < 0.1 {
        format!("{usd:.3}")
    } else if usd < 10.0 {
        format!("{usd:.1}")
    } else {
        format!("{usd:.0}")
    };
    format!("{text} $/h")
}

/// A sum of costs per hour, in which `unpriced` rungs of the config are not counted.
#[must_use]
pub fn spend(nps: u64, unpriced: usize) -> String {
    match (nps, unpriced) {
        (nps, 0) => per_hour(nps),
        (0, _) => "unpriced".to_owned(),
        (nps, unpriced) => format!("{} +{unpriced} unpriced", per_hour(nps)),
    }
}

/// Events per second.
#[must_use]
pub fn rate(rps: f64) -> String {
    if rps < 10.0 { format!("{rps:.1}/s") } else { format!("{rps:.0}/s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_fit_their_size() {
        let spans = [
            (-5, "0.0 s"),
            (940, "0.9 s"),
            (9_999, "9.9 s"),
            (42_000, "42 s"),
            (119_999, "119 s"),
            (720_000, "12 min"),
            (10_800_000, "3 h"),
            (777_600_000, "9 d"),
        ];
        for (ms, text) in spans {
            assert_eq!(span(ms), text);
        }
        let waits = [
            (None, "–"),
            (Some(0), "0 ms"),
            (Some(180), "180 ms"),
            (Some(999), "999 ms"),
            (Some(1_000), "1.0 s"),
            (Some(12_400), "12 s"),
        ];
        for (ms, text) in waits {
            assert_eq!(wait(ms), text);
        }
        let countdowns = [
            (0, "0:00"),
            (1, "0:01"),
            (17_001, "0:18"),
            (702_000, "11:42"),
            (11_520_000, "3:12:00"),
        ];
        for (ms, text) in countdowns {
            assert_eq!(countdown(ms), text);
        }
        let shares =
            [(None, "–"), (Some(0.0), "0 %"), (Some(0.024), "2.4 %"), (Some(0.58), "58 %")];
        for (share, text) in shares {
            assert_eq!(percent(share), text);
        }
        assert_eq!(share(1, 4), Some(0.25));
        assert_eq!(share(1, 0), None);
        let costs =
            [(0, "0 $/h"), (10_000, "0.036 $/h"), (1_000_000, "3.6 $/h"), (11_400_000, "41 $/h")];
        for (nps, text) in costs {
            assert_eq!(per_hour(nps), text);
        }
        let sums = [(0, 0, "0 $/h"), (0, 2, "unpriced"), (1_000_000, 2, "3.6 $/h +2 unpriced")];
        for (nps, unpriced, text) in sums {
            assert_eq!(spend(nps, unpriced), text);
        }
        assert_eq!((rate(9.13), rate(812.4)), ("9.1/s".to_owned(), "812/s".to_owned()));
        assert_eq!(wait(None), "–");
    }
}
