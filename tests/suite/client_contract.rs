//! What clients may rely on (section 7 of the design): headers, endings,
//! leaving, pressure, and what a wrong request is told.

mod bad_input;
mod browsers;
mod ending;
mod headers;
mod health;
mod keys;
mod leaving;
mod passing;
mod pressure;
