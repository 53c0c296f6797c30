//! What all connections of one mock share: its options, its fault, its wish, its log.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;

use super::fault::{Fault, FaultSpec};
use super::log::{Log, Report};
use super::options::MockOptions;
use super::pace::Pace;
use super::record::{Ended, Record};
use super::request::Request;
use super::wish::{Own, Wish};

/// See the module.
#[derive(Debug)]
pub(super) struct Shared {
    /// The mock's options at its start.
    pub(super) options: MockOptions,
    began: Pace,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    fault: Option<FaultSpec>,
    answer: Option<Wish>,
    /// How often a request's own fault was applied, by the fault's JSON.
    struck: HashMap<String, u32>,
    log: Log,
}

impl Inner {
    fn strike_standing(&mut self) -> Option<Fault> {
        let spec = self.fault.as_mut()?;
        let fault = spec.fault.clone();
        spec.times = spec.times.map(|left| left.saturating_sub(1));
        if spec.times == Some(0) {
            self.fault = None;
        }
        Some(fault)
    }

    fn strike_own(&mut self, spec: &FaultSpec) -> Option<Fault> {
        if let Some(times) = spec.times {
            if self.struck.len() >= MANY_FAULTS {
                self.struck.clear();
            }
            let key = serde_json::to_string(spec).unwrap_or_default();
            let struck = self.struck.entry(key).or_default();
            if *struck >= times {
                return None;
            }
            *struck += 1;
        }
        Some(spec.fault.clone())
    }
}

impl Shared {
    /// A mock that has seen nothing yet.
    pub(super) fn new(options: MockOptions) -> Arc<Self> {
        let fault = standing(options.fault.clone());
        let inner = Inner { fault, answer: None, struck: HashMap::new(), log: Log::default() };
        Arc::new(Self { options, began: Pace::start(), inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Sets the standing fault.
    pub(super) fn set_fault(&self, fault: Option<FaultSpec>) {
        self.inner().fault = standing(fault);
    }

    /// Sets the standing wish.
    pub(super) fn set_answer(&self, answer: Option<Wish>) {
        self.inner().answer = answer;
    }

    /// What a request's answer is to be: each field of its own wish goes before the same field of
    /// the standing wish.
    pub(super) fn wish(&self, own: &Own) -> Wish {
        let standing = self.inner().answer.clone().unwrap_or_default();
        let mine = own.at.as_ref().is_none_or(|at| *at == self.options.name);
        if mine { own.wish.clone().or(standing) } else { standing }
    }

    /// The fault that is applied to this request; takes one off the fault's count. The request's
    /// own fault goes before the standing one, even if it is `none` or has worn off.
    pub(super) fn strike(&self, request: &Request, own: Option<&FaultSpec>) -> Option<Fault> {
        let mut inner = self.inner();
        let fault = match own.filter(|spec| self.is_meant(spec)) {
            Some(spec) if hits(spec, request) => inner.strike_own(spec),
            Some(_) => None,
            None => {
                let spec = inner.fault.as_ref()?;
                let hit = self.is_meant(spec) && hits(spec, request);
                if hit { inner.strike_standing() } else { None }
            }
        };
        fault.filter(|fault| *fault != Fault::None {})
    }

    fn is_meant(&self, spec: &FaultSpec) -> bool {
        spec.at.as_ref().is_none_or(|at| *at == self.options.name)
    }

    /// Takes a request in.
    pub(super) fn admit(self: &Arc<Self>, mut record: Record, pace: Pace) -> Ticket {
        record.at_ms = self.began.elapsed_ms();
        let id = self.inner().log.admit(record);
        let ended = Ended::ClientGone;
        Ticket { shared: Arc::clone(self), id, pace, events: 0, ended }
    }

    /// Forgets everything it has seen, the standing fault and the standing wish.
    pub(super) fn reset(&self) {
        let mut inner = self.inner();
        inner.fault = None;
        inner.answer = None;
        inner.struck.clear();
        inner.log.reset();
    }

    /// What it reports about itself.
    pub(super) fn report(&self) -> Report {
        let inner = self.inner();
        inner.log.report(&self.options.name, inner.fault.as_ref(), inner.answer.as_ref())
    }

    /// The requests it remembers, oldest first.
    pub(super) fn records(&self) -> Vec<Record> {
        self.inner().log.records()
    }
}

fn hits(spec: &FaultSpec, request: &Request) -> bool {
    (spec.fault != Fault::NoStreamOptions {} || request.stream_options.is_some())
        && spec.share.is_none_or(|share| fastrand::f64() < share)
}

/// How many requests' own faults with a count are remembered; a test run has a handful.
const MANY_FAULTS: usize = 10_000;

fn standing(fault: Option<FaultSpec>) -> Option<FaultSpec> {
    fault.filter(|spec| spec.fault != Fault::None {} && spec.times != Some(0))
}

/// One request's entry in the log. Dropping it ends the request. If it is dropped before its ending
/// was set, the client has gone.
#[derive(Debug)]
pub(super) struct Ticket {
    shared: Arc<Shared>,
    id: u64,
    /// The request's schedule.
    pub(super) pace: Pace,
    events: u64,
    ended: Ended,
}

impl Ticket {
    fn note(&self, change: impl FnOnce(&mut Record)) {
        if let Some(record) = self.shared.inner().log.record(self.id) {
            change(record);
        }
    }

    /// Notes the fault that is applied to it.
    pub(super) fn struck(&self, fault: &Fault) {
        self.note(|record| record.fault = Some(fault.clone()));
    }

    /// Notes that the head is sent.
    pub(super) fn head(&self, status: u16) {
        let ms = self.pace.elapsed_ms();
        self.note(|record| {
            record.status = Some(status);
            record.timings.head_ms = Some(ms);
        });
    }

    /// Notes that an event is sent, which may be a token.
    pub(super) fn event(&mut self, token: bool) {
        self.events += 1;
        let (events, ms) = (self.events, self.pace.elapsed_ms());
        self.note(|record| {
            record.events = events;
            if token {
                record.tokens += 1;
                record.timings.first_token_ms.get_or_insert(ms);
            }
        });
    }

    /// Sets how it has ended. From then on it does not matter who closes the connection.
    pub(super) fn ended(&mut self, ended: Ended) {
        self.ended = ended;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let after_ms = self.pace.elapsed_ms();
        self.shared.inner().log.close(self.id, self.ended, self.events, after_ms);
    }
}
