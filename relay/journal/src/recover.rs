//! Marks as interrupted what the relay left unfinished before it restarted.
//!
//! After this, every row that counts as running does run. An unfinished row gets the outcome
//! `interrupted`, and its cost is unknown for that reason.

use rusqlite::{Connection, TransactionBehavior, params};
use shared::{AttemptOutcome, RequestOutcome, UnixMillis};

/// Why the cost is missing.
const REASON: &str = "interrupted";

/// The `+` keeps the planner from using the index on the time, which would lead it through every
/// row. It then uses the index that holds only unfinished rows.
pub(super) const REQUESTS: &str = "UPDATE requests SET outcome = ?1, cost_nano = NULL, no_cost = ?2
    WHERE outcome IS NULL AND +at < ?3";

/// As [`REQUESTS`].
pub(super) const ATTEMPTS: &str = "UPDATE attempts SET outcome = ?1, cost_nano = NULL, no_cost = ?2
    WHERE outcome IS NULL AND +at < ?3";

/// Finishes all rows without an outcome that began before `before`; returns how many requests were
/// among them.
pub(super) fn recover(conn: &mut Connection, before: UnixMillis) -> rusqlite::Result<usize> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute(ATTEMPTS, params![AttemptOutcome::Interrupted.as_str(), REASON, before.0])?;
    let requests =
        tx.execute(REQUESTS, params![RequestOutcome::Interrupted.as_str(), REASON, before.0])?;
    tx.commit()?;
    Ok(requests)
}
