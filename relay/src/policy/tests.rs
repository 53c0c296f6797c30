//! Tests of the core: rows that read like the design, and laws over random
//! orders of events.

mod breaking;
mod clocks;
mod exhausted;
mod hedging;
mod hold;
mod laws;
mod onward;
mod planning;
mod repeats;
mod scenario;
mod verdicts;
mod waiting;
