//! Changes members of a payload.

use crate::common::fields::{Fields, Writer};
use serde_json::value::RawValue;

/// Sets a member. Returns whether `json` is JSON.
pub(crate) fn set(fields: &mut Fields, key: &str, json: String) -> bool {
    RawValue::from_string(json).map(|raw| fields.set(key.to_owned(), raw)).is_ok()
}

/// The members as one object.
pub(crate) fn object_of(fields: &Fields) -> String {
    let mut writer = Writer::new(Vec::new());
    writer.all(fields);
    String::from_utf8_lossy(&writer.finish()).into_owned()
}
