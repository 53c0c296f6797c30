//! The script of an answer that streams.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::super::dialect::{Dialect, Turn};
use super::super::fault::Fault;
use super::super::options::MockOptions;
use super::super::plan::Plan;
use super::{STREAM, Script, Sent, Step, drip, ending, head_after};

/// The script of an answer that streams.
pub(super) fn script(
    dialect: &dyn Dialect,
    turn: &Turn<'_>,
    fault: Option<&Fault>,
    options: &MockOptions,
) -> Script {
    let steps = VecDeque::new();
    Stream { dialect, turn, plan: dialect.plan(turn), gap: options.gap, sent: 0, steps }
        .script(fault, options.ttft)
}

/// A stream while its script is written.
struct Stream<'a> {
    dialect: &'a dyn Dialect,
    turn: &'a Turn<'a>,
    plan: Plan,
    gap: Duration,
    /// Events so far.
    sent: u64,
    steps: VecDeque<Step>,
}

impl Stream<'_> {
    fn script(mut self, fault: Option<&Fault>, ttft: Duration) -> Script {
        match fault {
            Some(Fault::SlowFirstToken { ms }) => {
                self.prelude();
                self.wait(Duration::from_millis(*ms));
                self.rest(0);
            }
            Some(Fault::Stall { after }) => {
                self.first(*after);
                self.steps.push_back(Step::Silence);
            }
            Some(Fault::Cut { after }) => {
                self.first(*after);
                self.steps.push_back(Step::Break);
            }
            Some(Fault::EndEarly { after }) => self.first(*after),
            Some(Fault::ErrorFrame { after, kind, message }) => {
                self.first(*after);
                self.wait(self.gap);
                for event in self.dialect.error(self.turn, self.sent, kind, message) {
                    self.send(event, Sent::Event);
                }
            }
            Some(Fault::Malformed { after }) => {
                self.first(*after);
                self.wait(self.gap);
                self.send(self.dialect.broken(), Sent::Event);
                self.rest(*after);
            }
            Some(Fault::EmptyStream { finish }) => {
                let events = self.dialect.empty(self.turn, *finish);
                self.last(events);
            }
            Some(Fault::Pings { ms }) => {
                let ping = self.dialect.ping();
                self.steps.push_back(Step::Repeat(ping, Duration::from_millis(*ms)));
            }
            _ => {
                self.prelude();
                self.rest(0);
                if fault == Some(&Fault::KeepOpen {}) {
                    self.steps.push_back(Step::Silence);
                }
            }
        }
        Script {
            head_after: Some(head_after(fault, ttft)),
            drip: drip(fault),
            ended: ending(fault),
            ..Script::new(STREAM, self.steps)
        }
    }

    fn wait(&mut self, time: Duration) {
        self.steps.push_back(Step::Wait(time));
    }

    fn send(&mut self, bytes: Bytes, sent: Sent) {
        self.sent += 1;
        self.steps.push_back(Step::Send(bytes, sent));
    }

    fn prelude(&mut self) {
        for event in std::mem::take(&mut self.plan.prelude) {
            self.send(event, Sent::Event);
        }
    }

    /// The prelude and the first tokens.
    fn first(&mut self, count: usize) {
        self.prelude();
        self.tokens(0, count);
    }

    /// The tokens from `from` up to `until`, with a gap before each but the very first.
    fn tokens(&mut self, from: usize, until: usize) {
        let tokens = std::mem::take(&mut self.plan.tokens);
        for (place, token) in tokens.iter().enumerate().take(until).skip(from) {
            self.before(place, &token.before);
            self.send(token.event.clone(), Sent::Token);
        }
        self.plan.tokens = tokens;
    }

    fn before(&mut self, place: usize, events: &[Bytes]) {
        if place > 0 {
            self.wait(self.gap);
        }
        for event in events {
            self.send(event.clone(), Sent::Event);
        }
    }

    /// The tokens from `from` on, and the end.
    fn rest(&mut self, from: usize) {
        let count = self.plan.tokens.len();
        if let Some(event) = self.plan.last.take().filter(|_| from < count) {
            self.tokens(from, count - 1);
            let before = self.plan.tokens.pop().map(|token| token.before);
            self.before(count - 1, &before.unwrap_or_default());
            self.send(event, Sent::LastToken);
            return;
        }
        self.tokens(from, count);
        self.wait(self.gap);
        let end = std::mem::take(&mut self.plan.end);
        self.last(end);
    }

    /// The last events, all at once, as providers send them.
    fn last(&mut self, mut events: Vec<Bytes>) {
        let last = events.pop();
        for event in events {
            self.send(event, Sent::Event);
        }
        match last {
            Some(last) => self.send(last, Sent::Last),
            // There is no last event: sending nothing is the whole end.
            None => self.steps.push_back(Step::Send(Bytes::new(), Sent::Bytes)),
        }
    }
}
