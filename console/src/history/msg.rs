//! What the engineer does on History.

use super::filter::Preset;
use shared::RequestId;

/// What the engineer does on History.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Msg {
    /// This preset.
    Preset(Preset),
    /// Types a filter.
    Filter,
    /// No filter any more.
    Clear,
    /// The filter so far.
    FilterText(String),
    /// The next order.
    Sort,
    /// Follows what comes, or reads it anew where it cannot.
    Follow,
    /// Narrows the list to this group.
    Group(usize),
    /// Selects a request of a relay.
    Select(usize, RequestId),
}
