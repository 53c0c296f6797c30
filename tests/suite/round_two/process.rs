//! C: nothing outside the relay stops it.

mod outside;
mod strangers;
