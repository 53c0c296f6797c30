//! The script of an answer that streams.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::super::answer::Answer;
use super::super::fault::Fault;
use super::super::options::MockOptions;
use super::super::request::ChatRequest;
use super::super::wire::{BROKEN, DONE, PING, Wire, error_event};
use super::{STREAM, Script, Sent, Step, answer_to, drip, ending, head_after, wire};

/// Its script.
pub(super) fn script(
    request: &ChatRequest,
    fault: Option<&Fault>,
    options: &MockOptions,
) -> Script {
    let answer = answer_to(request, fault, options);
    let wire = wire(request, options);
    Stream { answer, wire, options, steps: VecDeque::new() }.script(fault)
}

/// A stream in the making.
struct Stream<'a> {
    answer: Answer,
    wire: Wire,
    options: &'a MockOptions,
    steps: VecDeque<Step>,
}

impl Stream<'_> {
    fn script(mut self, fault: Option<&Fault>) -> Script {
        match fault {
            Some(Fault::SlowFirstToken { ms }) => {
                self.role();
                self.wait(Duration::from_millis(*ms));
                self.tokens(0, usize::MAX);
                self.end();
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
                self.wait(self.options.gap);
                self.send(error_event(kind, message), Sent::Event);
            }
            Some(Fault::Malformed { after }) => {
                self.first(*after);
                self.wait(self.options.gap);
                self.send(BROKEN, Sent::Event);
                self.tokens(*after, usize::MAX);
                self.end();
            }
            Some(Fault::EmptyStream { finish }) => {
                if *finish {
                    self.send(self.wire.finish(&self.answer), Sent::Event);
                }
                self.send(DONE, Sent::Last);
            }
            Some(Fault::Pings { ms }) => {
                self.steps.push_back(Step::Repeat(PING, Duration::from_millis(*ms)));
            }
            _ => {
                self.first(usize::MAX);
                self.end();
                if fault == Some(&Fault::KeepOpen {}) {
                    self.steps.push_back(Step::Silence);
                }
            }
        }
        Script {
            head_after: Some(head_after(fault, self.options.ttft)),
            drip: drip(fault),
            ended: ending(fault),
            ..Script::new(STREAM, self.steps)
        }
    }

    fn wait(&mut self, time: Duration) {
        self.steps.push_back(Step::Wait(time));
    }

    fn send(&mut self, bytes: Bytes, sent: Sent) {
        self.steps.push_back(Step::Send(bytes, sent));
    }

    fn role(&mut self) {
        self.send(self.wire.role(&self.answer), Sent::Event);
    }

    /// The role and the first tokens.
    fn first(&mut self, count: usize) {
        self.role();
        self.tokens(0, count);
    }

    /// Some tokens from a place on, a gap before each but the very first.
    fn tokens(&mut self, from: usize, count: usize) {
        let tokens = self.answer.tokens.iter().enumerate().skip(from).take(count);
        for (place, token) in tokens {
            if place > 0 {
                self.steps.push_back(Step::Wait(self.options.gap));
            }
            let chunk = self.wire.token(&self.answer, place, token);
            self.steps.push_back(Step::Send(chunk, Sent::Token));
        }
    }

    /// Finish, usage and terminator, in one go as providers send them.
    fn end(&mut self) {
        self.wait(self.options.gap);
        self.send(self.wire.finish(&self.answer), Sent::Event);
        if let Some(usage) = self.wire.usage(&self.answer) {
            self.send(usage, Sent::Event);
        }
        self.send(DONE, Sent::Last);
    }
}
