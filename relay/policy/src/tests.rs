//! Tests of the core: rows that read like the rules in ARCHITECTURE.md, and laws over random
//! orders of events.

mod accounts;
mod breaking;
mod clocks;
mod crowd;
mod exhausted;
mod forcing;
mod hedging;
mod hold;
mod hollow;
mod hostile;
mod house;
mod kinds;
mod laws;
mod onward;
mod operating;
mod ordering;
mod own_faults;
mod partial;
mod planning;
mod previewing;
mod remembering;
mod repeats;
mod reshaping;
mod returning;
mod scenario;
mod slowness;
mod streams;
mod transitions;
mod verdicts;
mod waiting;
