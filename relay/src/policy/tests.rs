//! Tests of the core: rows that read like the design, and laws over random
//! orders of events.

mod breaking;
mod clocks;
mod exhausted;
mod forcing;
mod hedging;
mod hold;
mod laws;
mod onward;
mod ordering;
mod planning;
mod remembering;
mod repeats;
mod scenario;
mod verdicts;
mod waiting;
