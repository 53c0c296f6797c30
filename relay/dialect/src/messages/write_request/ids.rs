//! Writes ids of tool calls in a form that Anthropic accepts.
//!
//! Other providers' ids may have any characters, be empty, or occur twice in a conversation;
//! Anthropic refuses all three. The ids of a call and of its result change in the same way.

use std::collections::{HashMap, HashSet, VecDeque};

/// The ids of one conversation, in its order.
#[derive(Default)]
pub(crate) struct Ids<'a> {
    /// The written ids of calls whose results are still to come, by the client's id.
    open: HashMap<&'a str, VecDeque<String>>,
    used: HashSet<String>,
    /// The number to try next for ids that are used again. Without it the time for a conversation
    /// with only one id would be quadratic.
    next: HashMap<String, usize>,
}

impl<'a> Ids<'a> {
    /// The id of a call.
    pub(crate) fn of_call(&mut self, id: &'a str) -> String {
        let wanted = cleaned(id);
        let written = if wanted.is_empty() || self.used.contains(&wanted) {
            self.numbered(wanted)
        } else {
            wanted
        };
        self.used.insert(written.clone());
        self.open.entry(id).or_default().push_back(written.clone());
        written
    }

    /// `wanted` with the first number that is not used; an empty id becomes `call`.
    fn numbered(&mut self, wanted: String) -> String {
        let stem = if wanted.is_empty() { "call" } else { wanted.as_str() };
        let mut n = self.next.get(stem).copied().unwrap_or_default();
        let mut written = format!("{stem}_{n}");
        while self.used.contains(&written) {
            n += 1;
            written = format!("{stem}_{n}");
        }
        self.next.insert(stem.to_owned(), n + 1);
        written
    }

    /// The id of the call that a result belongs to. A result without a call keeps its own id.
    pub(crate) fn of_result(&mut self, id: &str) -> String {
        let call = self.open.get_mut(id).and_then(VecDeque::pop_front);
        call.unwrap_or_else(|| if id.is_empty() { "call_0".to_owned() } else { cleaned(id) })
    }
}

fn cleaned(id: &str) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.chars().map(|c| if fine(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_its_result_are_changed_alike() {
        let mut ids = Ids::default();
        let calls = ["call_a", "functions.get:0", "functions_get:0", "", "", "call_0", "ü"];
        let written: Vec<String> = calls.iter().map(|id| ids.of_call(id)).collect();
        assert_eq!(
            written,
            ["call_a", "functions_get_0", "functions_get_0_0", "call_0", "call_1", "call_0_0", "_"]
        );
        let results: Vec<String> = calls.iter().map(|id| ids.of_result(id)).collect();
        assert_eq!(results, written);
        assert_eq!(ids.of_call("call_a"), "call_a_0", "an id that comes again is another call's");
        assert_eq!(ids.of_result("call_a"), "call_a_0");
        assert_eq!(ids.of_result("nobody's"), "nobody_s");
    }

    #[test]
    fn many_calls_of_one_id_take_no_longer_than_as_many_of_their_own() {
        // Tried from the start each time, these would be five thousand million tries.
        let mut ids = Ids::default();
        let written: HashSet<String> = (0..100_000).map(|_| ids.of_call("x")).collect();
        assert_eq!(written.len(), 100_000);
        assert_eq!(ids.of_call("x"), "x_99999");
    }
}
