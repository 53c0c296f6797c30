//! What was sent from here, until it is known what became of it.

use std::collections::{BTreeMap, BTreeSet};

/// A change that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    /// Its id.
    pub id: String,
    /// What it did, in words.
    pub what: String,
    /// The relays that have it.
    pub relays: Vec<usize>,
}

/// Something that was sent from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mine {
    /// Its id.
    pub id: String,
    /// A change in words, which can be taken back; `None`: it was something else.
    pub change: Option<String>,
    /// The action that it takes back.
    pub undoes: Option<String>,
    /// By relay: what it said last.
    pub heard: BTreeMap<usize, String>,
}

/// How far it is with looking up whether something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Looking {
    /// An answer is awaited.
    pub asking: bool,
    /// Answers so far; they are a second apart.
    pub looks: u32,
}

impl Looking {
    /// So many times it may be absent before it is taken for not done.
    pub const ABSENT: u32 = 5;
    /// So many times it is looked for before that is given up.
    pub const MOST: u32 = 120;
}

/// A summary that waits for request ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copying {
    /// Relays that have not answered.
    pub waits_for: BTreeSet<usize>,
    /// Until when they may, by our clock.
    pub until: i64,
    /// Ids that came.
    pub ids: Vec<String>,
}
