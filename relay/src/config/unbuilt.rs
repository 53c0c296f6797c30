//! Keys of parts that later versions build: known, checked, and without effect.
//!
//! They are accepted so that one config can serve two versions, and warned
//! about so that no operator takes something for active that is not.

use super::tree::{Table, Value};

/// Keys with the check of their values.
type Keys = [(&'static str, fn(&Value<'_>))];

/// `[fleet]`.
pub(super) fn root(table: &Table<'_>) {
    warn_each(table, &[("fleet", anything)]);
}

fn warn_each(table: &Table<'_>, keys: &Keys) {
    for (key, check) in keys {
        if let Some(value) = table.get(key) {
            check(&value);
            let fix = "take it out, or keep it for a version that has it";
            value.report.warn(&value.key_at(), "has no effect in this version", fix);
        }
    }
}

/// For values whose shape is not fixed yet.
fn anything(_: &Value<'_>) {}
