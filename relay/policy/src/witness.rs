//! Which clients' requests are evidence against a rung.
//!
//! A request can be made so that it fails: a prompt on which a server breaks, one that is larger
//! than a limit, one that makes the model think for minutes. Enough of them from one client look
//! like an outage. So a rung is judged for everybody only by what would be left without any one
//! client: the latest outcomes of the others have to be bad as well. If only one client's requests
//! fail, the rung is closed to that client alone, for a short time, and a 429 holds the rung for
//! that client alone.
//!
//! If no other client has sent a request lately, one client's outcomes count in full.

use crate::hold::Hold;
use crate::time::Time;
use shared::PassedOver;
use std::collections::BTreeMap;
use std::time::Duration;

/// Outcomes that are older than this do not count.
const LATELY: Duration = Duration::from_secs(30);
/// How many of the latest outcomes count. At least half of them have to be bad.
const WORDS: usize = 4;
/// How long a rung is closed to one client.
const SHUT: Duration = Duration::from_secs(5);
/// How many clients are counted separately; beyond them the least recent is forgotten.
const CLIENTS: usize = 32;

/// The last two clients that sent a request, on any rung.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Present([Option<(u64, Time)>; 2]);

impl Present {
    /// `client` sends a request.
    pub(crate) fn asks(&mut self, now: Time, client: u64) {
        let [latest, before] = self.0;
        let is_latest = latest.is_some_and(|(latest, _)| latest == client);
        self.0 = [Some((client, now)), if is_latest { before } else { latest }];
    }

    fn is_alone(self, now: Time, client: u64) -> bool {
        !self.0.iter().flatten().any(|(other, at)| *other != client && now.since(*at) <= LATELY)
    }
}

/// The latest outcomes of one client's requests on a rung.
#[derive(Debug, Clone, Default)]
struct Witness {
    /// The latest first; whether each was bad.
    words: [Option<(Time, bool)>; WORDS],
    heard: Time,
    /// The rung is closed to this client until then.
    shut: Option<Time>,
    hold: Hold,
    /// When a provider last asked for a pause in answer to this client.
    limited: Option<Time>,
}

impl Witness {
    fn lately(&self, now: Time) -> impl Iterator<Item = (Time, bool)> {
        self.words.into_iter().flatten().filter(move |(at, _)| now.since(*at) <= LATELY)
    }

    fn is_all_bad(&self, now: Time) -> bool {
        self.lately(now).filter(|(_, bad)| *bad).count() == WORDS
    }
}

/// The outcomes of all clients' requests on one rung.
#[derive(Debug, Clone, Default)]
pub(crate) struct Witnesses(BTreeMap<u64, Witness>);

impl Witnesses {
    /// A call for `client` was good, or bad.
    pub(crate) fn word(&mut self, now: Time, client: u64, present: Present, bad: bool) {
        let contradicted = bad && !self.is_believed(now, client, present);
        let known = self.of(now, client);
        known.words.rotate_right(1);
        known.words[0] = Some((now, bad));
        if !bad {
            known.shut = None;
        } else if contradicted && known.is_all_bad(now) {
            known.shut = Some(now.plus(SHUT));
        }
    }

    /// Whether the evidence against the rung holds when any single client is left out.
    pub(crate) fn agree(&self, now: Time, present: Present) -> bool {
        self.0.keys().all(|client| self.is_believed(now, *client, present))
    }

    /// Whether the outcomes of the other clients are bad as well. If there are none, whether no
    /// other client has sent a request lately.
    fn is_believed(&self, now: Time, client: u64, present: Present) -> bool {
        self.others(now, client).unwrap_or_else(|| present.is_alone(now, client))
    }

    /// A provider asked for a pause in answer to `client`. Returns the hold for that client alone
    /// if the pause may be about that client's requests; `None`: it is a hold for all clients.
    pub(crate) fn own_hold(
        &mut self,
        now: Time,
        client: u64,
        present: Present,
    ) -> Option<&mut Hold> {
        let others = || self.but(client);
        let lately = |known: &Witness| known.limited.is_some_and(|at| now.since(at) <= LATELY);
        let has_others = others().next().is_some() || !present.is_alone(now, client);
        let is_own = has_others && !others().any(lately);
        let known = self.of(now, client);
        known.limited = Some(now);
        is_own.then_some(&mut known.hold)
    }

    /// An attempt dialled at `dialled` brought `client` a token.
    pub(crate) fn token(&mut self, client: u64, dialled: Time) {
        if let Some(known) = self.0.get_mut(&client) {
            known.hold.token(dialled);
        }
    }

    /// Until when the rung is held for `client` alone.
    pub(crate) fn held(&self, now: Time, client: u64) -> Option<Time> {
        self.0.get(&client)?.hold.until(now)
    }

    /// Until when the rung is closed to `client` alone.
    pub(crate) fn shut(&self, now: Time, client: u64) -> Option<Time> {
        self.0.get(&client)?.shut.filter(|until| *until > now)
    }

    /// Whether a new attempt for `client` may go to the rung.
    pub(crate) fn admit(&self, now: Time, client: u64) -> Result<(), PassedOver> {
        match (self.held(now, client), self.shut(now, client)) {
            (Some(_), _) => Err(PassedOver::Hold),
            (None, Some(_)) => Err(PassedOver::Open),
            (None, None) => Ok(()),
        }
    }

    /// An operator wants a probe: ends all holds and closures for single clients.
    pub(crate) fn pardon(&mut self) {
        for known in self.0.values_mut() {
            known.shut = None;
            known.hold = Hold::default();
        }
    }

    /// Whether at least half of the other clients' latest outcomes are bad; `None`: there are none.
    fn others(&self, now: Time, client: u64) -> Option<bool> {
        let mut words: Vec<_> = self.but(client).flat_map(|known| known.lately(now)).collect();
        words.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
        words.truncate(WORDS);
        let bad = words.iter().filter(|(_, bad)| *bad).count();
        (!words.is_empty()).then_some(bad * 2 >= words.len())
    }

    fn but(&self, client: u64) -> impl Iterator<Item = &Witness> {
        self.0.iter().filter(move |(other, _)| **other != client).map(|(_, known)| known)
    }

    fn of(&mut self, now: Time, client: u64) -> &mut Witness {
        if self.0.len() >= CLIENTS && !self.0.contains_key(&client) {
            let oldest = self.0.iter().min_by_key(|(_, known)| known.heard);
            if let Some(oldest) = oldest.map(|(oldest, _)| *oldest) {
                self.0.remove(&oldest);
            }
        }
        let known = self.0.entry(client).or_default();
        known.heard = now;
        known
    }
}
