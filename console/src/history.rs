//! The list of requests: what is asked for, and what came.

use crate::model::Loaded;
use shared::RequestId;
use shared::admin::{RequestDetail, RequestPage};

/// What the list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Everything that was not a plain first attempt answered in time.
    #[default]
    Trouble,
    /// What failed.
    Failed,
    /// The latest first tokens.
    Worst,
    /// The dearest.
    Dear,
    /// All.
    All,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Trouble, Self::Failed, Self::Worst, Self::Dear, Self::All];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trouble => "Trouble",
            Self::Failed => "Failed",
            Self::Worst => "Worst",
            Self::Dear => "Dear",
            Self::All => "All",
        }
    }

    /// The next one.
    #[must_use]
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|other| *other == self).unwrap_or(0);
        Self::ALL.get(place + 1).copied().unwrap_or_default()
    }

    /// The filters that it stands for.
    #[must_use]
    pub fn query(self) -> Vec<(String, String)> {
        let pair = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        match self {
            Self::Trouble => pair("trouble", "true"),
            Self::Failed => pair("outcome", "failed"),
            Self::Worst => pair("sort", "-ttft"),
            Self::Dear => pair("sort", "-cost"),
            Self::All => Vec::new(),
        }
    }
}

/// The screen's state.
#[derive(Debug, Default)]
pub struct History {
    /// What is shown.
    pub preset: Preset,
    /// Only what this rung was tried for.
    pub tried: Option<String>,
    /// Only this ladder.
    pub ladder: Option<String>,
    /// What came.
    pub page: Loaded<RequestPage>,
    /// The row that is selected, by its request.
    pub selected: Option<RequestId>,
    /// The selected request, whole.
    pub detail: Loaded<RequestDetail>,
}

impl History {
    /// The query for the relay.
    #[must_use]
    pub fn query(&self) -> Vec<(String, String)> {
        let mut query = self.preset.query();
        query.push(("limit".to_owned(), "200".to_owned()));
        let named = [("tried", &self.tried), ("ladder", &self.ladder)];
        for (key, value) in named {
            if let Some(value) = value {
                query.push((key.to_owned(), value.clone()));
            }
        }
        query
    }

    /// Selects the row `step` further; the first one if none is selected.
    pub fn step(&mut self, step: isize) {
        let Loaded::Come(page) = &self.page else { return };
        let place = page.items.iter().position(|row| Some(row.id) == self.selected);
        let last = page.items.len().saturating_sub(1);
        let place = place.map_or(0, |place| place.saturating_add_signed(step).min(last));
        self.selected = page.items.get(place).map(|row| row.id);
        self.detail = Loaded::No;
    }
}
