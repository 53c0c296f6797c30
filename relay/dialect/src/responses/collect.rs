//! Takes a whole response from a stream: it is in the last event. Some servers leave out its output
//! there, so the items are kept as they come.

use crate::common::fields::{self, Fields, push_array};
use crate::common::json::{is_filled_array, members, place, raw_members, word};
use crate::stream::pass_through::Collect;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A response that is collected.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    body: Vec<u8>,
    items: BTreeMap<u64, String>,
    held: usize,
}

raw_members! {
    /// The members of an event that are read.
    Members {
        kind: "type",
        response: "response",
        item: "item",
        output_index: "output_index",
    }
}

/// The memory of an item besides its text.
const ITEM: usize = 96;

impl Collect for Collected {
    fn event(&mut self, event: &str, is_last: bool) {
        let event: Members<'_> = members(serde_json::from_str(event).ok());
        if is_last {
            let response = event.response.map(RawValue::get).unwrap_or_default();
            self.body = with_output(response, &self.items);
        } else if word(event.kind) == "response.output_item.done"
            && let Some(item) = event.item
        {
            self.held = self.held.saturating_add(item.get().len()).saturating_add(ITEM);
            let place = place(event.output_index).unwrap_or_default();
            self.items.insert(place, item.get().to_owned());
        }
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.body)
    }

    fn held(&self) -> usize {
        self.body.len().saturating_add(self.held)
    }
}

/// A response with the items that came before it, if its own output is empty.
fn with_output(response: &str, items: &BTreeMap<u64, String>) -> Vec<u8> {
    let fields: Fields = serde_json::from_str(response).unwrap_or_default();
    let is_empty = fields.text("output").is_none_or(|output| !is_filled_array(output));
    if !is_empty || items.is_empty() || fields.is_empty() {
        return response.into();
    }
    let mut writer = fields::Writer::new(Vec::new());
    for (key, value) in fields.iter().filter(|(key, _)| *key != "output") {
        writer.raw(key, value.get());
    }
    push_array(items.values().map(String::as_str), writer.key("output"));
    writer.finish()
}
