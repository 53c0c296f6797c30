//! Faults that were found on the built product: by public reports, an
//! adversarial review and real clients. A test is named after its entry in the
//! project's second collection of cases (`a1_…`, `b1_…`).

mod clients;
mod edges;
mod endings;
mod failover;
mod judgement;
mod load;
mod process;
mod stamp;
mod translation;
mod waiting;
