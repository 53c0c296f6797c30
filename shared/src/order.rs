//! The order of a ladder's rungs.

use crate::words::words;

words! {
    /// Whose order a ladder is in.
    OrderSource, "source of an order" {
        /// The config's.
        Config = "config",
        /// An operator's.
        Operator = "operator",
        /// An operator's, fitted to a config whose rungs have changed since.
        Adapted = "adapted",
    }
}
