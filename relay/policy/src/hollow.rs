//! Useless answers: empty ones, and those that do not follow their schema.
//!
//! They are no evidence that a rung is down, so they do not change its breaker. But a rung that
//! gives only such answers costs every request a useless call. So the rung is moved down the plan
//! for a share of requests: its share of useless answers beyond its usual share. The other
//! requests still call it at its place, so that its recovery is noticed.
//!
//! A request can be made so that its answer is empty. So each client is counted separately, and the
//! useless answers of one client count for that client alone: for the others the client with the
//! most useless answers is left out.

use crate::time::Time;

/// Counts fade with this time constant, in seconds.
const FADE: f64 = 300.0;
/// How many answers are remembered at most, so that a repaired rung soon gets its place back.
const MEMORY: f64 = 12.0;
/// With fewer useless answers than this nothing changes: they may be chance.
const LEAST: f64 = 3.0;
/// A rung keeps all its requests while this factor times its whole answers is at least its calls.
const MARGIN: f64 = 1.5;
/// How many answers it takes, about, until the usual share is known.
const USUAL: f64 = 200.0;
/// How many clients are counted separately; beyond them the least recent is forgotten.
const CLIENTS: usize = 32;

/// Fading counts of one client's answers.
#[derive(Debug, Clone, Copy, Default)]
struct Answers {
    client: u64,
    calls: f64,
    whole: f64,
    at: Time,
}

impl Answers {
    fn at(self, now: Time) -> Self {
        let kept = (-now.since(self.at).as_secs_f64() / FADE).exp();
        Self { calls: self.calls * kept, whole: self.whole * kept, at: now, ..self }
    }

    fn count(&mut self, now: Time, whole: bool) {
        let before = self.at(now);
        let kept = if before.calls >= MEMORY { 1.0 - 1.0 / MEMORY } else { 1.0 };
        *self = Self {
            calls: before.calls.mul_add(kept, 1.0),
            whole: before.whole.mul_add(kept, f64::from(u8::from(whole))),
            ..before
        };
    }

    fn hollow(&self) -> f64 {
        self.calls - self.whole
    }
}

/// One rung's answers, by client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hollow {
    clients: Vec<Answers>,
    /// The usual share of useless answers, learned while the rung keeps all its requests.
    usual: f64,
}

impl Hollow {
    /// An answer for `client` ended; `whole`: it was not useless.
    pub(crate) fn count(&mut self, now: Time, client: u64, whole: bool) {
        if self.share(now, client) <= 0.0 {
            self.usual += (f64::from(u8::from(!whole)) - self.usual) / USUAL;
        }
        if let Some(known) = self.clients.iter_mut().find(|known| known.client == client) {
            return known.count(now, whole);
        }
        if whole && self.clients.is_empty() {
            // As long as no answer was useless, nothing is stored for a rung.
            return;
        }
        if self.clients.len() >= CLIENTS {
            let oldest = self.clients.iter().enumerate().min_by_key(|(_, known)| known.at);
            if let Some((oldest, _)) = oldest {
                self.clients.swap_remove(oldest);
            }
        }
        let mut answers = Answers { client, at: now, ..Answers::default() };
        answers.count(now, whole);
        self.clients.push(answers);
    }

    /// The share of `client`'s requests for which the rung is moved down the plan.
    pub(crate) fn share(&self, now: Time, client: u64) -> f64 {
        let own = self.clients.iter().find(|known| known.client == client);
        let own = own.map_or(0.0, |own| self.beyond_usual(own.at(now)));
        own.max(self.beyond_usual(self.of_others(now)))
    }

    /// The answers of all clients except the one with the most useless answers.
    fn of_others(&self, now: Time) -> Answers {
        let all = || self.clients.iter().map(|known| known.at(now));
        let worst = all().max_by(|one, other| one.hollow().total_cmp(&other.hollow()));
        let worst = worst.map(|worst| worst.client);
        let others = all().filter(|known| Some(known.client) != worst);
        others.fold(Answers::default(), |sum, known| Answers {
            calls: sum.calls + known.calls,
            whole: sum.whole + known.whole,
            ..sum
        })
    }

    fn beyond_usual(&self, answers: Answers) -> f64 {
        if answers.hollow() < LEAST {
            return 0.0;
        }
        let margin = MARGIN / (1.0 - self.usual.min(0.9));
        (margin.mul_add(-answers.whole, answers.calls) / (answers.calls + 1.0)).max(0.0)
    }
}
