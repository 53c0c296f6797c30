//! From what a provider said to what the policy core is told.
//!
//! No judgement: a status stays a status, a break stays a break. The only
//! words made here are details for the journal, in the relay's own language.

use super::failed::Failed;
use super::log::AttemptLog;
use crate::provider::Said;
use crate::wall;
use bytes::BytesMut;
use dialect::answer::{AnswerReader, End, Facts, Heard};
use policy::{Answer, Break, Ending, NoHead};

/// What one word of a provider means to the walk.
#[derive(Debug, Default)]
pub(super) struct News {
    /// The provider has told of an error, which is to be classified before it is an ending.
    pub(super) failed: Option<Box<Failed>>,
    /// It was composed aside, and goes out now.
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
    pub(super) fn read(&mut self, said: Said, out: &mut BytesMut) -> News {
        match said {
            Said::Head => {
                self.head(200);
                News::default()
            }
            Said::Bytes(bytes) => {
                let heard = self.reader.read(&bytes, out);
                self.heard(heard)
            }
            Said::EndOfBody => {
                let heard = self.reader.end_of_body(out);
                self.heard(heard)
            }
            Said::Whole(body) => {
                self.head(200);
                let heard = self.reader.read_whole(&body, out);
                self.heard(heard)
            }
            Said::Status { status, headers, body } => {
                self.head(status);
                self.log.bytes = body.len() as u64;
                failed(Failed::with_status(status, headers, body))
            }
            Said::Broken(why) => self.broken(Break::Reset, why.to_owned()),
            Said::TooLarge => {
                self.broken(Break::TooLarge, "the answer is over the limit".to_owned())
            }
            Said::NotTheDialect(why) => {
                self.head(200);
                self.broken(Break::NotTheDialect, why)
            }
            Said::NotConnected(why) => self.no_head(NoHead::NotConnected, why),
            Said::ConnectTimeout => self.no_head(NoHead::ConnectTimeout, "no connection in time"),
            Said::OwnFault(why) => self.no_head(NoHead::OwnFault, why),
            Said::NoAnswer(why) => self.no_head(NoHead::Closed, why),
            Said::Stale => {
                self.no_head(NoHead::Stale, "a reused connection was closed without an answer")
            }
            Said::NotTaken => {
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

    /// What was heard of an answer.
    pub(super) fn heard(&mut self, heard: Heard) -> News {
        self.log.events = self.log.events.saturating_add(u64::from(heard.tokens));
        let facts = self.reader.facts();
        if heard.tokens > 0 && self.log.first_token.is_none() {
            self.log.first_token = Some(wall::now());
        }
        let answer = answer(facts);
        let news = News {
            token: (heard.tokens > 0).then_some(facts.refused),
            ping: heard.pings > 0,
            finished: heard.finished.then_some(answer),
            ..News::default()
        };
        match heard.end {
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
