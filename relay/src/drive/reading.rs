//! From what a provider said to what the policy core is told.
//!
//! No judgement: a status stays a status, a break stays a break. The only
//! words made here are details for the journal, in the relay's own language.

use super::in_force::Rung;
use super::log::AttemptLog;
use crate::dialect::answer::{AnswerReader, End, Facts, Heard};
use crate::dialect::matchers::{Evidence, classify, parse_error};
use crate::dialect::provider_error::ProviderError;
use crate::dialect::retry_after::retry_after;
use crate::policy::{Answer, Break, Ending, NoHead};
use crate::provider::Said;
use crate::wall;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;

/// What one word of a provider means to the walk.
#[derive(Debug, Default)]
pub(super) struct News {
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
    pub(super) rung: &'a Rung,
    pub(super) added: bool,
    pub(super) log: &'a mut AttemptLog,
    pub(super) error: &'a mut Option<ProviderError>,
    /// Whether these words stand in the request.
    pub(super) quotes: &'a dyn Fn(&str) -> bool,
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
                let ending = self.status(status, &headers, &body);
                ended(ending)
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

    fn head(&mut self, status: u16) {
        self.log.status = Some(status);
        self.log.headers = Some(wall::now());
    }

    fn heard(&mut self, heard: Heard) -> News {
        self.log.events = self.log.events.saturating_add(u64::from(heard.tokens));
        let facts = self.reader.facts();
        if heard.tokens > 0 && self.log.first_token.is_none() {
            self.log.first_token = Some(wall::now());
        }
        let answer = answer(facts);
        News {
            sent: false,
            token: (heard.tokens > 0).then_some(facts.refused),
            ping: heard.pings > 0,
            finished: heard.finished.then_some(answer),
            ended: heard.end.map(|end| self.end(end, answer)),
        }
    }

    fn end(&mut self, end: End, answer: Answer) -> Ending {
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
            End::Broken(why) => {
                self.log.detail = Some(why.to_owned());
                Ending::Broken(Break::Malformed)
            }
            End::Error(mut error) => {
                self.classify(None, &mut error);
                self.log.detail = Some(format!("error event{}", tag(&error)));
                let (signature, retry_after) = (error.signature, error.retry_delay);
                let certain = error.evidence == Evidence::Field;
                *self.error = Some(error);
                Ending::ErrorEvent { signature, certain, retry_after }
            }
        }
    }

    fn status(&mut self, status: u16, headers: &HeaderMap, body: &Bytes) -> Ending {
        let mut error = parse_error(body);
        self.classify(Some(status), &mut error);
        self.log.detail = Some(format!("HTTP {status}{}", tag(&error)));
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let names_added_field = (self.added && names_added_field(&error))
            || (self.reader.translates() && names_wording(&error));
        let signature = error.signature;
        let certain = error.evidence == Evidence::Field;
        *self.error = Some(error);
        Ending::Status {
            status,
            signature,
            certain,
            retry_after: retry_after(header, Some(body), wall::unix()),
            names_added_field,
        }
    }

    fn classify(&self, status: Option<u16>, error: &mut ProviderError) {
        let dialect = self.rung.provider.dialect();
        classify(dialect, &self.rung.matchers, status, error, self.quotes);
    }

    fn broken(&mut self, broken: Break, why: String) -> News {
        self.log.detail = Some(why);
        ended(Ending::Broken(broken))
    }
}

fn ended(ending: Ending) -> News {
    News { ended: Some(ending), ..News::default() }
}

/// What the answer consists of so far.
fn answer(facts: &Facts) -> Answer {
    Answer { content: facts.content, refused: facts.refused, length: facts.length, invalid: false }
}

/// A 400 about a field that the relay adds by itself.
fn names_added_field(error: &ProviderError) -> bool {
    const NAMES: &[&str] =
        &["stream_options", "include_usage", "reasoning.summary", "reasoning summaries"];
    let names = |text: &str| NAMES.iter().any(|name| text.contains(name));
    names(&error.message) || error.param.as_deref().is_some_and(names)
}

/// A 400 about a field that a client of another dialect does not know: the relay chose it.
fn names_wording(error: &ProviderError) -> bool {
    const NAMES: &[&str] = &[
        "max_completion_tokens",
        "max_output_tokens",
        "reasoning_effort",
        "reasoning.effort",
        "budget_tokens",
        "output_config",
        "input_schema",
        "thinkingconfig",
        "thinking_config",
        "generationconfig",
        "generation_config",
        "responsejsonschema",
        "parametersjsonschema",
        "thoughtsignature",
        "thought_signature",
        "encrypted_content",
        "encrypted content",
    ];
    let names = |text: &str| {
        let text = text.to_ascii_lowercase();
        NAMES.iter().any(|name| text.contains(name))
    };
    names(&error.message) || error.param.as_deref().is_some_and(names)
}

/// The provider's type and code, where they are plain identifiers: they help at
/// night and cannot carry a prompt or a key.
fn tag(error: &ProviderError) -> String {
    let plain =
        |text: &&str| text.len() <= 40 && text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let words = [error.kind.as_deref(), error.code.as_deref()];
    let mut tag = String::new();
    for word in words.into_iter().flatten().filter(plain) {
        if !tag.ends_with(word) {
            tag.push(' ');
            tag.push_str(word);
        }
    }
    tag
}
