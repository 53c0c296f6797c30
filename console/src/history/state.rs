//! The list of requests: what is asked for, and what came, from one relay or from several.

use super::filter::{Filter, Preset, Sort, WrongFilter};
use super::rows::{self, Group, Rows};
use crate::model::Loaded;
use shared::RequestId;
use shared::admin::{RequestDetail, RequestRow, Series};
use std::collections::BTreeMap;

/// The screen's state.
#[derive(Debug, Default)]
pub struct History {
    /// What is shown.
    pub preset: Preset,
    /// What it is narrowed to.
    pub filter: Filter,
    /// The filter as it is typed, while it is being typed.
    pub typing: Option<String>,
    /// What is wrong with what was typed.
    pub wrong: Option<WrongFilter>,
    /// In which order; `None`: the preset's.
    pub sort: Option<Sort>,
    /// What came.
    pub rows: Rows,
    /// What it asks the relays for: answers to an older question are not shown.
    pub asked: u64,
    /// Whether new rows are shown as they come.
    pub follow: bool,
    /// Requests may have ended since the relays were asked last.
    pub stirred: bool,
    /// When they were asked last, by our clock.
    pub asked_at: i64,
    /// The row that is selected: the relay that has it, and the request.
    pub selected: Option<(usize, RequestId)>,
    /// The selected request, whole.
    pub detail: Loaded<RequestDetail>,
    /// By relay: how attempts of the window ended, rung by rung.
    pub series: BTreeMap<usize, Series>,
    /// By relay: requests in the window.
    pub totals: BTreeMap<usize, u64>,
    /// What went wrong most, over the whole window.
    pub groups: Vec<Group>,
    /// The group that is selected.
    pub group: Option<usize>,
}

impl History {
    /// The order that is in force.
    #[must_use]
    pub fn order(&self) -> Sort {
        self.sort.unwrap_or_else(|| self.preset.sort())
    }

    /// The query for a relay whose clock says `now`.
    #[must_use]
    pub fn query(&self, now: shared::UnixMillis) -> Vec<(String, String)> {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mut query = self.preset.query();
        // Said twice, the filter's word counts.
        let narrowed = self.filter.query(now);
        query.retain(|(key, _)| narrowed.iter().all(|(other, _)| other != key));
        query.extend(narrowed);
        if self.order() != Sort::At {
            query.push(pair("sort", self.order().word()));
        }
        query.push(pair("limit", "200"));
        query
    }

    /// Selects the row `step` further; the first one if none is selected.
    pub fn step(&mut self, step: isize) {
        let rows = self.rows.shown();
        let here = |(relay, row): &(usize, RequestRow)| Some((*relay, row.id)) == self.selected;
        let place = rows.iter().position(here);
        let last = rows.len().saturating_sub(1);
        let place = place.map_or(0, |place| place.saturating_add_signed(step).min(last));
        self.selected = rows.get(place).map(|(relay, row)| (*relay, row.id));
        self.detail = Loaded::No;
    }

    /// Whether the selected row is near the end of what is loaded.
    #[must_use]
    pub fn is_near_end(&self) -> bool {
        let rows = self.rows.shown();
        let here = |(relay, row): &(usize, RequestRow)| Some((*relay, row.id)) == self.selected;
        rows.iter().position(here).is_some_and(|place| place + 20 > rows.len())
    }

    /// Sums what went wrong in the window, over all relays.
    pub fn group_up(&mut self) {
        self.groups = rows::groups(self.series.values());
        self.group = None;
    }
}
