//! Reads values of a request's fields as they were written.

use crate::common::fields::Fields;
use crate::common::reject::Reject;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// An optional flag; absent and null are false.
///
/// # Errors
///
/// The value has another type.
pub(crate) fn flag(fields: &Fields, key: &str) -> Result<bool, Reject> {
    match fields.text(key) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Reject::wrong_type(key, "true or false")),
    }
}

/// An optional count; absent and null are none. `wanted` says what it must be.
///
/// # Errors
///
/// The value has another type.
pub(crate) fn whole_number(
    fields: &Fields,
    key: &str,
    wanted: &str,
) -> Result<Option<u64>, Reject> {
    let count = |raw| count_of(raw).ok_or_else(|| Reject::wrong_type(key, wanted));
    fields.text(key).map(count).transpose()
}

/// A count as it was written; some clients write each number with a decimal point.
pub(crate) fn count_of(raw: &str) -> Option<u64> {
    let of_float = || {
        let (whole, rest) = raw.split_once('.')?;
        rest.bytes().all(|digit| digit == b'0').then(|| whole.parse().ok())?
    };
    raw.parse().ok().or_else(of_float)
}

/// A limit that the relay can plan with. The provider judges any other value.
pub(crate) fn limit_of(fields: &Fields, key: &str) -> Option<u64> {
    fields.text(key).and_then(count_of)
}

/// An optional array as it was written; absent and null are none.
///
/// # Errors
///
/// The value has another type.
pub(crate) fn array<'f>(fields: &'f Fields, key: &str) -> Result<Option<&'f str>, Reject> {
    match fields.text(key) {
        Some(raw) if !raw.starts_with('[') => Err(Reject::wrong_type(key, "an array")),
        other => Ok(other),
    }
}

/// Whether an array as it was written has no element.
pub(crate) fn is_empty_array(raw: &str) -> bool {
    raw.trim_start_matches('[').trim_ascii_start().starts_with(']')
}

/// `format` itself if it asks for a schema; else `None`.
pub(crate) fn schema_format(format: &RawValue) -> Option<&RawValue> {
    (member(format, "type")?.get() == "\"json_schema\"").then_some(format)
}

/// A member of a raw object.
pub(crate) fn member<'a>(object: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(object.get()).ok()?;
    members.get(key).copied()
}
