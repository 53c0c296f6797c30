//! Reads how long a provider asks the relay to wait.
//!
//! The wait is reported as the provider gave it; bounds and defaults belong to the policy.

use serde_json::Value;
use shared::UnixMillis;
use std::time::{Duration, UNIX_EPOCH};

/// No provider means more than a year, and a `Duration` can hold a year.
const LONGEST_SECONDS: f64 = 366.0 * 86_400.0;

/// The wait that an answer asks for.
///
/// The first of these counts: `retry-after-ms` (SDKs prefer it, too), `retry-after` as seconds or
/// as a date, Google's `retryDelay` in the error body. A value that cannot be read counts as
/// absent; a time that has passed is a wait of zero.
#[must_use]
pub fn retry_after<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    body: Option<&[u8]>,
    now: UnixMillis,
) -> Option<Duration> {
    let millis = || seconds(header("retry-after-ms")?, 1e-3);
    let plain = || {
        let text = header("retry-after")?;
        seconds(text, 1.0).or_else(|| until(text, now))
    };
    let delay = || retry_delay(&serde_json::from_slice(body?).ok()?);
    millis().or_else(plain).or_else(delay)
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let text = text.trim();
    // Rust also reads "inf" and "nan", which no server means.
    if !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E')) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64((value * unit).clamp(0.0, LONGEST_SECONDS)).ok()
}

fn until(text: &str, now: UnixMillis) -> Option<Duration> {
    let at = httpdate::parse_http_date(text.trim()).ok()?;
    let at = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    Some(at.saturating_sub(now))
}

/// `error.details[].retryDelay`, such as `"48s"` or `"3.5s"`.
pub(crate) fn retry_delay(json: &Value) -> Option<Duration> {
    let json = json.as_array().and_then(|items| items.first()).unwrap_or(json);
    json.pointer("/error/details")?.as_array()?.iter().find_map(|detail| {
        seconds(detail.get("retryDelay")?.as_str()?.trim().strip_suffix('s')?, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(784_111_777_000); // Sun, 06 Nov 1994 08:49:37 GMT

    fn wait(headers: &[(&str, &'static str)], body: Option<&str>) -> Option<Duration> {
        let header =
            |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        retry_after(header, body.map(str::as_bytes), NOW)
    }

    #[test]
    fn every_form_is_read_and_none_is_invented() {
        for (text, millis) in [
            ("24", Some(24_000)),
            (" 1.5 ", Some(1500)),
            ("0", Some(0)),
            ("-3", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60_000)),
            ("Sun, 06 Nov 1994 08:48:37 GMT", Some(0)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60_000)),
            ("inf", None),
            ("nan", None),
            ("", None),
            ("soon", None),
        ] {
            let expected = millis.map(Duration::from_millis);
            assert_eq!(wait(&[("retry-after", text)], None), expected, "{text}");
        }
        assert!(wait(&[("retry-after", "9e999")], None).is_some());
    }

    #[test]
    fn milliseconds_come_first_and_the_body_last() {
        let body = r#"{"error":{"details":[{"@type":"x"},{"retryDelay":"48.5s"}]}}"#;
        let both = [("retry-after", "1"), ("retry-after-ms", "845")];
        assert_eq!(wait(&both, Some(body)), Some(Duration::from_millis(845)));
        assert_eq!(wait(&both[..1], Some(body)), Some(Duration::from_secs(1)));
        assert_eq!(wait(&[], Some(body)), Some(Duration::from_millis(48_500)));
        assert_eq!(wait(&[], Some(&format!("[{body}]"))), Some(Duration::from_millis(48_500)));
        let broken = [("retry-after-ms", "x"), ("retry-after", "2")];
        assert_eq!(wait(&broken, None), Some(Duration::from_secs(2)));
        assert_eq!(wait(&[], Some("<html>")), None);
    }
}
