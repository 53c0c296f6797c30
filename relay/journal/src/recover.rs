//! What an earlier life of the relay left unfinished is interrupted.
//!
//! After this no row says "running" that does not run: its outcome is
//! `interrupted`, its cost unknown for that reason.

use rusqlite::{Connection, TransactionBehavior, params};
use shared::{AttemptOutcome, RequestOutcome, UnixMillis};

/// The reason for the missing cost.
const REASON: &str = "interrupted";

/// The `+` keeps the planner off the index on the time, which would lead it
/// through every row, to the one that holds only what is unfinished.
pub(super) const REQUESTS: &str = "UPDATE requests SET outcome = ?1, cost_nano = NULL, no_cost = ?2
    WHERE outcome IS NULL AND +at < ?3";

/// As [`REQUESTS`].
pub(super) const ATTEMPTS: &str = "UPDATE attempts SET outcome = ?1, cost_nano = NULL, no_cost = ?2
    WHERE outcome IS NULL AND +at < ?3";

/// Finishes all rows without an outcome that began before `before`; returns how
/// many requests there were.
pub(super) fn recover(conn: &mut Connection, before: UnixMillis) -> rusqlite::Result<usize> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute(ATTEMPTS, params![AttemptOutcome::Interrupted.as_str(), REASON, before.0])?;
    let requests =
        tx.execute(REQUESTS, params![RequestOutcome::Interrupted.as_str(), REASON, before.0])?;
    tx.commit()?;
    Ok(requests)
}
