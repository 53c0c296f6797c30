//! What clients may rely on: headers, endings,
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
