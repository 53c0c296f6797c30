//! E: what is written in one dialect arrives in another one, within its limits.
