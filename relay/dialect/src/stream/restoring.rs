//! Restores the client's own tool names in an answer, if the rung got other names.

use crate::neutral::{Event, FREE_TEXT, JsonEnd, Names, Text};
use std::collections::HashMap;

/// Restores tool names, and turns JSON arguments back into free text for tools that take it.
#[derive(Debug, Default)]
pub(crate) struct Restoring {
    names: Names,
    /// Calls whose input is free text, by their numbers, and the JSON that has come for each.
    free: HashMap<usize, Json>,
}

#[derive(Debug)]
struct Json {
    text: String,
    end: JsonEnd,
}

impl Restoring {
    pub(crate) fn new(names: Names) -> Self {
        Self { names, free: HashMap::new() }
    }

    /// Whether every event is handed on unchanged.
    pub(crate) const fn is_idle(&self) -> bool {
        self.names.is_empty()
    }

    /// The event for the client; `None`: there is nothing to write now.
    pub(crate) fn restored<'e>(&mut self, event: &Event<'e>) -> Option<Event<'e>> {
        match event {
            Event::Call { call, id, name, custom } => {
                let Some(own) = self.names.own(&name.decoded()) else {
                    return Some(event.clone());
                };
                if own.free_text {
                    let json = Json { text: String::new(), end: JsonEnd::new(false) };
                    self.free.insert(*call, json);
                }
                Some(Event::Call {
                    call: *call,
                    id: id.clone(),
                    name: Text::plain(&own.name),
                    custom: *custom || own.free_text,
                })
            }
            Event::Arguments { call, json } => {
                let Some(held) = self.free.get_mut(call) else { return Some(event.clone()) };
                held.text.push_str(&json.decoded());
                held.end.feed(json.escaped());
                let whole = held.end.is_reached().then(|| self.free.remove(call))??;
                let text = free_text(&whole.text).unwrap_or(whole.text);
                (!text.is_empty())
                    .then(|| Event::Arguments { call: *call, json: Text::plain(&text) })
            }
            _ => Some(event.clone()),
        }
    }

    /// Bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.free.values().map(|json| json.text.len()).fold(0, usize::saturating_add)
    }
}

/// The text in the arguments of a tool that takes free text; `None`: the model wrote them in
/// another form.
fn free_text(json: &str) -> Option<String> {
    let members: HashMap<String, serde_json::Value> = serde_json::from_str(json).ok()?;
    members.get(FREE_TEXT)?.as_str().map(str::to_owned)
}
