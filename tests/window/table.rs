//! Figures in lines, each beside its limit.

use crate::say;

/// The table, printed line by line as it is measured: the whole takes minutes.
#[derive(Debug)]
pub(crate) struct Table;

impl Table {
    /// Prints the head.
    pub(crate) fn begin() -> Self {
        say(&format!("{:<50} {:>10} {:>10}", "", "measured", "limit"));
        Self
    }

    /// Prints a figure; a limit that it exceeds is named.
    pub(crate) fn row(&self, what: &str, figure: f64, unit: &str, limit: Option<f64>) {
        let what = format!("{what}, {unit}");
        let shown = limit.map_or_else(|| "-".to_owned(), |limit| format!("{limit:.0}"));
        let over = if limit.is_some_and(|limit| figure > limit) { "  over" } else { "" };
        say(&format!("{what:<50} {figure:>10.1} {shown:>10}{over}"));
    }
}
