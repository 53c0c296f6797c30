//! Belay's relay: a chat answer that keeps flowing when an inference provider
//! goes slow, junk or down.
//!
//! The floors, each importing only what stands below it:
//!
//! | floor | what |
//! | --- | --- |
//! | [`commands`] | the command line |
//! | [`serve`], [`admin`] | what clients and operators call |
//! | [`listen`] | sockets, foreign hosts, stuck clients |
//! | [`drive`] | one driver per request: inputs in, actions out |
//! | [`provider`] | calls to providers |
//! | [`metrics`], [`live`], [`feed`], [`config`] | the numbers, and what was configured; they do not know each other |
//! | [`dialect`], [`policy`], [`journal`] | packages of their own: wire formats, rules, the journal; they do not know each other |
//! | [`record`] | a package: what is recorded of a request and an attempt |
//!
//! Beside them [`wall`], the only file that reads the clock; [`stderr`], the log's way out;
//! [`mock`], a package: a provider that misbehaves on cue and knows nothing of the rest;
//! and what the commands for operators need: [`shared::remote`], the admin API called from outside, and [`screen`], its answers as
//! lines of text. The relay's own floors know none of these.

pub mod admin;
pub mod commands;
pub mod config;
pub mod drive;
pub mod feed;
pub mod listen;
pub mod live;
pub mod metrics;
pub mod provider;
pub mod screen;
pub mod serve;
pub mod stderr;
pub mod wall;
