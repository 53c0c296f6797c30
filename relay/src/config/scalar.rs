//! The scalars of the tree: each read with its limits, each mistake reported.

use super::report::shown;
use super::suggest;
use super::tree::{Table, Value};
use super::units;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;
use toml::de::DeValue;

impl<'t> Value<'t> {
    /// Any string. What is read by this may be a secret: it is never repeated.
    pub(super) fn string(&self) -> Option<&'t str> {
        let DeValue::String(text) = self.raw else {
            self.wrong("a string", "write it in quotes");
            return None;
        };
        Some(text)
    }

    /// A string that says something and holds no control characters.
    pub(super) fn text(&self) -> Option<&'t str> {
        let text = self.string()?;
        if text.trim().is_empty() {
            self.error("is empty", "write something, or leave the key out");
            return None;
        }
        if text.chars().any(char::is_control) {
            self.error("holds a control character", "take it out");
            return None;
        }
        Some(text)
    }

    pub(super) fn flag(&self) -> Option<bool> {
        let DeValue::Boolean(flag) = self.raw else {
            self.wrong("true or false", "write true or false, without quotes");
            return None;
        };
        Some(*flag)
    }

    /// An integer within `range`.
    pub(super) fn integer(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let (low, high) = (range.start(), range.end());
        let fix = format!("write an integer from {low} to {high}");
        let DeValue::Integer(raw) = self.raw else {
            self.wrong("an integer", fix);
            return None;
        };
        let number = u64::from_str_radix(raw.as_str(), raw.radix()).ok();
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            self.error(format!("{} is out of range", shown(&raw.to_string())), fix);
        }
        number
    }

    /// An integer or float within `range`.
    pub(super) fn number(&self, range: RangeInclusive<f64>) -> Option<f64> {
        let fix = format!("write a number from {} to {}", range.start(), range.end());
        let (number, written) = match self.raw {
            // Hex digits such as 1e5 would read as another float.
            DeValue::Integer(raw) if raw.radix() != 10 => (None, raw.to_string()),
            DeValue::Integer(raw) => (raw.as_str().parse::<f64>().ok(), raw.to_string()),
            DeValue::Float(raw) => (raw.as_str().parse::<f64>().ok(), raw.to_string()),
            _ => {
                self.wrong("a number", fix);
                return None;
            }
        };
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            self.error(format!("{} is out of range", shown(&written)), fix);
        }
        number
    }

    /// A duration within `range`, such as `"15s"`.
    pub(super) fn duration(&self, range: &RangeInclusive<Duration>) -> Option<Duration> {
        let fix = "write a number with a unit, such as \"15s\", \"250ms\" or \"1m 30s\"";
        let text = match self.raw {
            DeValue::String(text) => text,
            DeValue::Integer(_) | DeValue::Float(_) => {
                self.error("a bare number is no duration", "write a unit, such as \"15s\"");
                return None;
            }
            _ => {
                self.wrong("a duration", fix);
                return None;
            }
        };
        let found = match units::duration(text) {
            Ok(found) => found,
            Err(units::Unreadable(why)) => {
                self.error(format!("'{}' {why}", shown(text)), fix);
                return None;
            }
        };
        if range.contains(&found) {
            return Some(found);
        }
        let (low, high) =
            (units::show_duration(*range.start()), units::show_duration(*range.end()));
        let how = if found.is_zero() {
            "is no time at all"
        } else if found < *range.start() {
            "is too short"
        } else {
            "is too long"
        };
        let fix = if *range.start() < Duration::from_millis(1) {
            format!("write more than zero and at most {high}")
        } else {
            format!("write at least {low} and at most {high}")
        };
        self.error(format!("'{}' {how}", shown(text)), fix);
        None
    }

    /// A size in bytes within `range`: an integer, or such as `"8MiB"`.
    pub(super) fn size(&self, range: &RangeInclusive<u64>) -> Option<u64> {
        let (low, high) = (units::show_size(*range.start()), units::show_size(*range.end()));
        let fix = format!("write a size such as \"8MiB\" or a number of bytes, {low} to {high}");
        let (found, written) = match self.raw {
            DeValue::Integer(raw) => {
                let bytes = u64::from_str_radix(raw.as_str(), raw.radix());
                (bytes.map_err(|_| "is out of range".to_owned()), raw.to_string())
            }
            DeValue::String(text) => {
                (units::size(text).map_err(|units::Unreadable(why)| why), text.to_string())
            }
            _ => {
                self.wrong("a size", fix);
                return None;
            }
        };
        match found {
            Ok(bytes) if range.contains(&bytes) => return Some(bytes),
            Ok(_) => self.error(format!("'{}' is out of range", shown(&written)), fix),
            Err(why) => self.error(format!("'{}' {why}", shown(&written)), fix),
        }
        None
    }

    /// An IP address with a port.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        let text = self.string()?;
        let address = text.parse().ok();
        if address.is_none() {
            let fix =
                "write an IP address and a port, such as \"127.0.0.1:8787\" or \"[::1]:8787\"";
            self.error(format!("'{}' is no address to listen on", shown(text)), fix);
        }
        address
    }

    /// One of a closed set of words.
    pub(super) fn word<T: Copy>(&self, set: &[(&'static str, T)]) -> Option<T> {
        let text = self.string()?;
        let found = set.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let fix = suggest::fix(text, set.iter().map(|(word, _)| *word));
            self.error(format!("'{}' is no word that is known here", shown(text)), fix);
        }
        found
    }

    /// A list of texts, none of them twice.
    pub(super) fn texts(&self) -> Option<Vec<(&'t str, Value<'t>)>> {
        let list = self.list("write a list of strings, such as [\"one\", \"two\"]")?;
        let mut texts: Vec<(&str, Value<'_>)> = Vec::new();
        for element in list {
            let Some(text) = element.text() else { continue };
            if texts.iter().any(|(earlier, _)| *earlier == text) {
                element.error(format!("'{}' stands here twice", shown(text)), "take one out");
            } else {
                texts.push((text, element));
            }
        }
        Some(texts)
    }

    /// A list of words of a closed set, none of them twice.
    pub(super) fn words<T: Copy>(&self, set: &[(&'static str, T)]) -> Option<Vec<T>> {
        Some(self.texts()?.iter().filter_map(|(_, element)| element.word(set)).collect())
    }
}

/// Reads by key; `None` where the key is absent or wrong (and reported).
impl Table<'_> {
    pub(super) fn address(&self, key: &'static str) -> Option<SocketAddr> {
        self.get(key)?.address()
    }

    pub(super) fn flag(&self, key: &'static str) -> Option<bool> {
        self.get(key)?.flag()
    }

    pub(super) fn integer(&self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        self.get(key)?.integer(range)
    }

    pub(super) fn duration(
        &self,
        key: &'static str,
        range: &RangeInclusive<Duration>,
    ) -> Option<Duration> {
        self.get(key)?.duration(range)
    }

    pub(super) fn size(&self, key: &'static str, range: &RangeInclusive<u64>) -> Option<u64> {
        self.get(key)?.size(range)
    }

    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.get(key)?.text().map(str::to_owned)
    }

    pub(super) fn word<T: Copy>(&self, key: &'static str, set: &[(&'static str, T)]) -> Option<T> {
        self.get(key)?.word(set)
    }
}
