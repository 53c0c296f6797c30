//! One attempt in flight: its upstream call, its reader, and what is held back.

use super::checking::{Checking, Wrong};
use super::composing::Composing;
use super::failed::{Added, Failed, Failure, Quotable};
use super::held::Held;
use super::in_force::Rung;
use super::log::AttemptLog;
use super::reading::{News, Reading};
use super::work_pool::{SMALL, WorkPool};
use crate::live;
use crate::provider::{Call, CallEvent};
use crate::wall;
use bytes::{Bytes, BytesMut};
use dialect::answer::{AnswerReader, End, Form, Progress};
use dialect::errors::ProviderError;
use dialect::schema::{Checked, Schema};
use policy::{Answer, AttemptId, Break, Ending, NoHead};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Work on the pool that the provider's answer still needs.
pub(super) enum Later {
    /// A large answer is read.
    Read(oneshot::Receiver<(AnswerReader, Progress, BytesMut)>),
    /// Its error is classified.
    Classified(oneshot::Receiver<Box<Failed>>),
    /// Its answer is checked against a schema.
    Checked(Checking, Answer),
}

/// Without the answer.
impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Later").finish_non_exhaustive()
    }
}

/// One attempt, from its dial to the end of the request.
#[derive(Debug)]
pub(super) struct AttemptIo {
    pub(super) id: AttemptId,
    pub(super) rung: Arc<Rung>,
    /// What is to be sent, until it is.
    pub(super) composing: Option<Composing>,
    /// `None` before it is sent, and once the attempt has ended.
    pub(super) call: Option<Call>,
    pub(super) reader: AnswerReader,
    /// The client's bytes from before the commit.
    pub(super) held: BytesMut,
    /// How much may be held back.
    pub(super) max_held: usize,
    /// Counts what has come and was not passed on.
    pub(super) counted_held: Held,
    /// How much all requests together may hold.
    pub(super) most_held: usize,
    /// Whether the relay added a field to the request on its own.
    pub(super) added: bool,
    pub(super) error: Option<ProviderError>,
    /// What its answer must follow, where the relay checks that.
    pub(super) schema: Option<Arc<Schema>>,
    /// What has to be done before more is read.
    pub(super) later: Option<Later>,
    /// The answer that did not, and why.
    pub(super) wrong: Option<Arc<Wrong>>,
    /// It came to its proper end and was passed over: the walk may come back to it.
    pub(super) may_answer: bool,
    pub(super) log: AttemptLog,
    /// Its place among those that wait for a first token; `None` once it has ended.
    pub(super) seat: Option<live::Ticket>,
    /// Its first token has been counted.
    pub(super) counted: bool,
}

impl AttemptIo {
    /// The next news from the provider; the client's bytes go to `out`, or are held back.
    pub(super) fn poll_news(
        &mut self,
        cx: &mut Context<'_>,
        out: Option<&mut BytesMut>,
        quotable: &Quotable<'_>,
    ) -> Poll<News> {
        if self.later.is_some() {
            return self.poll_later(cx, out, quotable);
        }
        if let Some(composing) = &mut self.composing {
            let Poll::Ready((call, left_out, names)) = composing.poll_call(cx, &self.rung) else {
                return Poll::Pending;
            };
            let was_aside = composing.is_large();
            self.reader.restore(names);
            (self.composing, self.call, self.log.left_out) = (None, Some(call), left_out);
            if was_aside {
                self.log.dialled = wall::now();
                return Poll::Ready(News { sent: true, ..News::default() });
            }
        }
        let Some(call) = &mut self.call else { return Poll::Pending };
        let Poll::Ready(said) = call.poll_event(cx) else { return Poll::Pending };
        if let CallEvent::Bytes(bytes) | CallEvent::Whole(bytes) = &said {
            self.log.bytes = self.log.bytes.saturating_add(bytes.len() as u64);
            if out.is_none() && !self.counted_held.grow(bytes.len(), self.most_held) {
                return Poll::Ready(self.no_room());
            }
        }
        let news = match said {
            CallEvent::Whole(body) if body.len() >= SMALL => {
                self.read_on_pool(body);
                return self.poll_later(cx, out, quotable);
            }
            said => self.read(|reading, sink| reading.read(said, sink), out),
        };
        Poll::Ready(self.finish(news, quotable))
    }

    fn read(
        &mut self,
        read: impl FnOnce(&mut Reading<'_>, &mut BytesMut) -> News,
        out: Option<&mut BytesMut>,
    ) -> News {
        let committed = out.is_some();
        let sink = out.unwrap_or(&mut self.held);
        let mut reading = Reading { reader: &mut self.reader, log: &mut self.log };
        let mut news = read(&mut reading, sink);
        let goes_on = news.ended.is_none() && news.failed.is_none();
        if !committed && self.held.len() > self.max_held && goes_on {
            self.log.detail = Some(format!("more than {} bytes held back", self.max_held));
            news.ended = Some(Ending::Broken(Break::TooLarge));
        }
        news
    }

    /// Reads a large answer in one body, on the work pool. Nothing was read before it, so a new
    /// reader takes this one's place meanwhile.
    fn read_on_pool(&mut self, body: Bytes) {
        Reading { reader: &mut self.reader, log: &mut self.log }.head(200);
        let new = AnswerReader::new(*self.reader.spec());
        let mut reader = std::mem::replace(&mut self.reader, new);
        self.later = Some(Later::Read(WorkPool::Bulk.run(body.len(), move || {
            let mut out = BytesMut::new();
            let progress = reader.read_whole(&body, &mut out);
            if progress.end == Some(End::Proper) && reader.spec().form == Form::Whole {
                reader.write_whole();
            }
            (reader, progress, out)
        })));
    }

    /// Classifies an error, and checks a whole answer; on the work pool if that takes time.
    fn finish(&mut self, mut news: News, quotable: &Quotable<'_>) -> News {
        if let Some(failed) = news.failed.take() {
            match failed.classified(&self.rung, quotable) {
                Ok(failed) => news.ended = Some(self.failed(*failed)),
                Err(later) => self.later = Some(Later::Classified(later)),
            }
        }
        if let Some(Ending::Proper(answer)) = news.ended
            && let Some(checking) = self.check()
        {
            self.later = Some(Later::Checked(checking, answer));
            news.ended = None;
        }
        news
    }

    /// The result of the work on the pool, once it is there.
    fn poll_later(
        &mut self,
        cx: &mut Context<'_>,
        out: Option<&mut BytesMut>,
        quotable: &Quotable<'_>,
    ) -> Poll<News> {
        let Some(mut later) = self.later.take() else { return Poll::Pending };
        let news = match &mut later {
            Later::Read(told) => match Pin::new(told).poll(cx) {
                Poll::Pending => None,
                Poll::Ready(Ok((reader, progress, written))) => {
                    self.reader = reader;
                    let news = self.read(
                        |reading, sink| {
                            // The first that is written to it, as a rule.
                            sink.unsplit(written);
                            reading.apply(progress)
                        },
                        out,
                    );
                    Some(self.finish(news, quotable))
                }
                Poll::Ready(Err(_panicked)) => Some(self.own_fault("the answer was not read")),
            },
            Later::Classified(told) => match Pin::new(told).poll(cx) {
                Poll::Pending => None,
                Poll::Ready(Ok(failed)) => {
                    let ended = Some(self.failed(*failed));
                    Some(News { ended, ..News::default() })
                }
                Poll::Ready(Err(_panicked)) => Some(self.own_fault("the error was not read")),
            },
            Later::Checked(checking, answer) => match checking.poll(cx) {
                Poll::Pending => None,
                Poll::Ready((checked, text)) => Some(self.checked(checked, text, *answer)),
            },
        };
        news.map_or_else(
            || {
                self.later = Some(later);
                Poll::Pending
            },
            Poll::Ready,
        )
    }

    /// The walk's input for an error; log and client get theirs later.
    fn failed(&mut self, failed: Failed) -> Ending {
        let Failure { ending, detail, error } =
            failed.ending(Added { usage: self.added, all: self.reader.translates() });
        (self.log.detail, self.error) = (Some(detail), Some(error));
        ending
    }

    /// The relay failed, and the provider did not.
    fn own_fault(&mut self, why: &str) -> News {
        self.log.detail = Some(format!("a fault of the relay: {why}"));
        News { ended: Some(Ending::NoHead(NoHead::OwnFault)), ..News::default() }
    }

    /// All requests together hold as much as they may: that is no fault of the provider's.
    fn no_room(&mut self) -> News {
        self.log.detail = Some("server.max_in_flight_bytes are in flight already".to_owned());
        News { ended: Some(Ending::NoHead(NoHead::OwnFault)), ..News::default() }
    }

    /// Begins to check the whole answer, where the relay checks this one's.
    fn check(&mut self) -> Option<Checking> {
        let (schema, facts) = (self.schema.as_ref()?, self.reader.facts());
        if facts.refused || facts.length {
            return None;
        }
        Some(Checking::start(schema, self.reader.text()?))
    }

    fn checked(&mut self, checked: Checked, text: String, mut answer: Answer) -> News {
        match checked {
            Checked::Fine => {}
            Checked::Wrong(problem) => {
                self.log.detail = Some("the answer does not follow its JSON schema".to_owned());
                self.wrong = Some(Arc::new(Wrong { answer: text, problem }));
                answer.invalid = true;
            }
            Checked::TooMuchWork => {
                self.log.detail =
                    Some("not checked against its JSON schema: too much work".to_owned());
            }
        }
        News { ended: Some(Ending::Proper(answer)), ..News::default() }
    }

    /// Gives back what an attempt that can no longer be the answer still holds.
    pub(super) fn let_go(&mut self) {
        if self.composing.is_none() && self.call.is_none() && !self.may_answer {
            self.held = BytesMut::new();
            self.counted_held.let_go();
        }
    }
}
