//! Turns a provider's answer into inputs of the policy core.
//!
//! No judgement: a status stays a status, a break stays a break. The only
//! words made here are details for the journal, in the relay's own language.

use super::failed::Failed;
use super::log::AttemptLog;
use crate::provider::CallEvent;
use crate::wall;
use bytes::BytesMut;
use dialect::answer::{AnswerReader, End, Facts, Progress};
use policy::{Answer, Break, Ending, NoHead};

/// What one word of a provider means to the walk.
#[derive(Debug, Default)]
pub(super) struct News {
    /// The provider has sent an error, which is to be classified before it is an ending.
    pub(super) failed: Option<Box<Failed>>,
    /// It was composed on the work pool, and goes out now.
    pub(super) sent: bool,
    /// Content came; whether all content so far is the text of a refusal.
    pub(super) token: Option<bool>,
    /// Life without content.
    pub(super) ping: bool,
    /// The finish reason came.
    pub(super) finished: Option<Answer>,
    /// It is over.
    pub(super) ended: Option<Ending>,
}

/// The parts of a line that reading needs.
pub(super) struct Reading<'a> {
    pub(super) reader: &'a mut AnswerReader,
    pub(super) log: &'a mut AttemptLog,
}

impl Reading<'_> {
    pub(super) fn read(&mut self, said: CallEvent, out: &mut BytesMut) -> News {
        match said {
            CallEvent::Head => {
                self.head(200);
                News::default()
            }
            CallEvent::Bytes(bytes) => {
                let progress = self.reader.read(&bytes, out);
                self.apply(progress)
            }
            CallEvent::EndOfBody => {
                let progress = self.reader.end_of_body(out);
                self.apply(progress)
            }
            CallEvent::Whole(body) => {
                self.head(200);
                let progress = self.reader.read_whole(&body, out);
                self.apply(progress)
            }
            CallEvent::Status { status, headers, body } => {
                self.head(status);
                self.log.bytes = body.len() as u64;
                failed(Failed::with_status(status, headers, body))
            }
            CallEvent::Broken(why) => self.broken(Break::Reset, why.to_owned()),
            CallEvent::TooLarge => {
                self.broken(Break::TooLarge, "the answer is over the limit".to_owned())
            }
            CallEvent::NotTheDialect(why) => {
                self.head(200);
                self.broken(Break::NotTheDialect, why)
            }
            CallEvent::NotConnected(why) => self.no_head(NoHead::NotConnected, why),
            CallEvent::ConnectTimeout => {
                self.no_head(NoHead::ConnectTimeout, "no connection in time")
            }
            CallEvent::OwnFault(why) => self.no_head(NoHead::OwnFault, why),
            CallEvent::NoAnswer(why) => self.no_head(NoHead::Closed, why),
            CallEvent::Stale => {
                self.no_head(NoHead::Stale, "a reused connection was closed without an answer")
            }
            CallEvent::NotTaken => {
                self.no_head(NoHead::NotTaken, "closed before the whole request was sent")
            }
        }
    }

    fn no_head(&mut self, no_head: NoHead, why: &str) -> News {
        self.log.detail = Some(why.to_owned());
        ended(Ending::NoHead(no_head))
    }

    /// A head has come.
    pub(super) fn head(&mut self, status: u16) {
        self.log.status = Some(status);
        self.log.headers = Some(wall::now());
    }

    /// Takes in what was read of an answer.
    pub(super) fn apply(&mut self, progress: Progress) -> News {
        self.log.events = self.log.events.saturating_add(u64::from(progress.tokens));
        let facts = self.reader.facts();
        if progress.tokens > 0 && self.log.first_token.is_none() {
            self.log.first_token = Some(wall::now());
        }
        let answer = answer(facts);
        let news = News {
            token: (progress.tokens > 0).then_some(facts.refused),
            ping: progress.pings > 0,
            finished: progress.finished.then_some(answer),
            ..News::default()
        };
        match progress.end {
            None => news,
            Some(End::Error(error)) => {
                News { failed: Some(Box::new(Failed::in_answer(error))), ..news }
            }
            Some(end) => News { ended: Some(self.end(&end, answer)), ..news },
        }
    }

    fn end(&mut self, end: &End, answer: Answer) -> Ending {
        match end {
            End::Proper => Ending::Proper(answer),
            End::Cut => {
                self.log.detail = Some("ended without a finish reason".to_owned());
                Ending::Broken(Break::EndOfBody)
            }
            End::TooLarge { limit } => {
                self.log.detail = Some(format!("over the limit of {limit} bytes"));
                Ending::Broken(Break::TooLarge)
            }
            End::Broken(why) => self.malformed(why),
            End::Error(_) => self.malformed("an error"),
        }
    }

    fn malformed(&mut self, why: &str) -> Ending {
        self.log.detail = Some(why.to_owned());
        Ending::Broken(Break::Malformed)
    }

    fn broken(&mut self, broken: Break, why: String) -> News {
        self.log.detail = Some(why);
        ended(Ending::Broken(broken))
    }
}

fn failed(failed: Failed) -> News {
    News { failed: Some(Box::new(failed)), ..News::default() }
}

fn ended(ending: Ending) -> News {
    News { ended: Some(ending), ..News::default() }
}

/// What the answer consists of so far.
fn answer(facts: &Facts) -> Answer {
    Answer { content: facts.content, refused: facts.refused, length: facts.length, invalid: false }
}
