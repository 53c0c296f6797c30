//! Reading a fault, from JSON or from the short form of the command line.
//!
//! Both forms end in the same check, so that every accepted fault can be played: no problem with it
//! shows up in the middle of a test.

use std::str::FromStr;

use http::HeaderValue;
use serde_json::Value;

use super::fault::{BadFault, Fault, FaultSpec, server_error, server_error_message};

impl FaultSpec {
    /// Reads a fault from JSON: an object, or a string in the short form.
    ///
    /// # Errors
    /// If there is no such fault, or it lacks a field or has one too many.
    pub fn from_json(value: Value) -> Result<Self, BadFault> {
        let mut fields = match value {
            Value::String(short) => return short.parse(),
            Value::Object(fields) => fields,
            _ => return Err(BadFault::new("neither an object nor a string")),
        };
        let mut take = |key: &str| fields.shift_remove(key).unwrap_or(Value::Null);
        let (times, share, at) = (take("times"), take("share"), take("at"));
        let spec = Self {
            times: read("times", times)?,
            share: read("share", share)?,
            at: read("at", at)?,
            fault: serde_json::from_value(Value::Object(fields))
                .map_err(|e| BadFault::new(e.to_string()))?,
        };
        spec.checked()
    }

    fn checked(self) -> Result<Self, BadFault> {
        if self.share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(BadFault::new("share is not within 0 and 1"));
        }
        if let Fault::Status { status, retry_after, .. } = &self.fault {
            if !(200..=999).contains(status) {
                return Err(BadFault::new("status is not within 200 and 999"));
            }
            if retry_after.as_deref().is_some_and(|v| HeaderValue::from_str(v).is_err()) {
                return Err(BadFault::new("retry_after cannot stand in a header"));
            }
        }
        Ok(self)
    }
}

fn read<T: serde::de::DeserializeOwned>(key: &str, value: Value) -> Result<Option<T>, BadFault> {
    serde_json::from_value(value).map_err(|e| BadFault::new(format!("{key}: {e}")))
}

impl FromStr for FaultSpec {
    type Err = BadFault;

    /// Reads the short form, `stall:3`, or JSON if it begins with a brace.
    fn from_str(text: &str) -> Result<Self, BadFault> {
        if text.trim_start().starts_with('{') {
            let value = serde_json::from_str(text).map_err(|e| BadFault::new(e.to_string()))?;
            return Self::from_json(value);
        }
        let mut parts = Parts(text.splitn(4, ':').map(str::trim));
        let fault = short(&mut parts)?;
        match parts.0.next() {
            None => Self::from(fault).checked(),
            Some(extra) => Err(BadFault::new(format!("`{extra}` is one part too many"))),
        }
    }
}

fn short<'a>(parts: &mut Parts<impl Iterator<Item = &'a str>>) -> Result<Fault, BadFault> {
    let name = parts.0.next().unwrap_or_default();
    Ok(match name {
        "none" => Fault::None {},
        "slow_first_token" => Fault::SlowFirstToken { ms: parts.number("ms")? },
        "delay_head" => Fault::DelayHead { ms: parts.number("ms")? },
        "hang" => Fault::Hang {},
        "stall" => Fault::Stall { after: parts.number("after")? },
        "cut" => Fault::Cut { after: parts.number("after")? },
        "end_early" => Fault::EndEarly { after: parts.number("after")? },
        "error_frame" => Fault::ErrorFrame {
            after: parts.number("after")?,
            kind: parts.0.next().map_or_else(server_error, Into::into),
            message: parts.0.next().map_or_else(server_error_message, Into::into),
        },
        "html" => Fault::Html {},
        "empty_stream" => Fault::EmptyStream {
            finish: match parts.0.next() {
                None => false,
                Some("finish") => true,
                Some(_) => return Err(BadFault::new("empty_stream takes only `finish`")),
            },
        },
        "status" => {
            Fault::Status { status: parts.number("status")?, retry_after: parts.rest(), body: None }
        }
        "drip" => Fault::Drip { ms: parts.number("ms")? },
        "malformed" => Fault::Malformed { after: parts.number("after")? },
        "pings" => Fault::Pings { ms: parts.number("ms")? },
        "refuse" => Fault::Refuse {},
        "context_exceeded" => Fault::ContextExceeded {},
        "no_stream_options" => Fault::NoStreamOptions {},
        "keep_open" => Fault::KeepOpen {},
        _ => return Err(BadFault::new(format!("no fault is called `{name}`"))),
    })
}

/// The rest of a short form, split at its colons.
struct Parts<I>(I);

impl<'a, I: Iterator<Item = &'a str>> Parts<I> {
    fn number<T: FromStr>(&mut self, what: &str) -> Result<T, BadFault> {
        let part = self.0.next().ok_or_else(|| BadFault::new(format!("`{what}` is missing")))?;
        part.parse().map_err(|_| BadFault::new(format!("`{part}` is no number for `{what}`")))
    }

    /// Everything that is left, because an HTTP date has colons of its own.
    fn rest(&mut self) -> Option<String> {
        let parts: Vec<&str> = self.0.by_ref().collect();
        (!parts.is_empty()).then(|| parts.join(":"))
    }
}
