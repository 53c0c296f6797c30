//! Turns a provider's error into an input of the policy core.
//!
//! Providers quote what they were sent, so the words of an error are searched for in the request.
//! In a large request the search is done on the work pool.

use super::composing::is_large;
use super::in_force::Rung;
use super::work_pool::WorkPool;
use crate::wall;
use bytes::Bytes;
use dialect::errors::ProviderError;
use dialect::errors::{Evidence, classify, names_own_field, parse_error};
use dialect::is_quoted;
use dialect::request::ClientRequest;
use dialect::retry_after;
use http::HeaderMap;
use policy::Ending;
use std::sync::Arc;
use tokio::sync::oneshot;

/// What a provider may have quoted.
#[derive(Debug)]
pub(super) enum Quotable<'a> {
    /// This request, and these headers that went along.
    Request(&'a Arc<ClientRequest>, &'a HeaderMap),
    /// A request that has gone: every word may be a quotation.
    Gone,
    /// A request of the relay's own, which has none of the words that are searched for.
    Own,
}

impl Quotable<'_> {
    fn has(&self, words: &str) -> bool {
        match self {
            Self::Request(request, along) => {
                let values = &mut along.values();
                request.quotes(words) || values.any(|value| is_quoted(value.as_bytes(), words))
            }
            Self::Gone => true,
            Self::Own => false,
        }
    }
}

/// What came with an error that is the whole response.
struct Response {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

/// An error of a provider's. `response` is `None` inside a 200.
pub(super) struct Failed {
    error: ProviderError,
    response: Option<Response>,
}

/// Without its words.
impl std::fmt::Debug for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Failed").finish_non_exhaustive()
    }
}

impl Failed {
    pub(super) fn with_status(status: u16, headers: HeaderMap, body: Bytes) -> Self {
        Self { error: parse_error(&body), response: Some(Response { status, headers, body }) }
    }

    pub(super) const fn in_answer(error: ProviderError) -> Self {
        Self { error, response: None }
    }

    /// Finds out what it means: at once, or on the work pool if that takes time.
    pub(super) fn classified(
        mut self: Box<Self>,
        rung: &Arc<Rung>,
        quotable: &Quotable<'_>,
    ) -> Result<Box<Self>, oneshot::Receiver<Box<Self>>> {
        match quotable {
            Quotable::Request(request, along) if is_large(request.size()) => {
                let (request, along) = (Arc::clone(request), (*along).clone());
                let rung = Arc::clone(rung);
                Err(WorkPool::Bulk.run(request.size(), move || {
                    self.classify(&rung, &Quotable::Request(&request, &along));
                    self
                }))
            }
            at_once => {
                self.classify(rung, at_once);
                Ok(self)
            }
        }
    }

    fn classify(&mut self, rung: &Rung, quotable: &Quotable<'_>) {
        let status = self.response.as_ref().map(|response| response.status);
        let quotes = |words: &str| quotable.has(words);
        classify(rung.provider.dialect(), &rung.matchers, status, &mut self.error, &quotes);
    }

    /// The walk's input, and what is kept for log and client.
    pub(super) fn ending(self, added: Added) -> Failure {
        let Self { error, response } = self;
        let (signature, certain) = (error.signature, error.evidence == Evidence::Field);
        let Some(Response { status, headers, body }) = response else {
            let ending = Ending::ErrorEvent { signature, certain, retry_after: error.retry_delay };
            return Failure { ending, detail: format!("error event{}", tag(&error)), error };
        };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let ending = Ending::Status {
            status,
            signature,
            certain,
            retry_after: retry_after(header, Some(&body), wall::unix()),
            names_added_field: (added.usage && error.names_added_field())
                || (added.all && names_own_field(&error)),
        };
        Failure { ending, detail: format!("HTTP {status}{}", tag(&error)), error }
    }
}

/// Which fields of the request the relay has set, and not the client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Added {
    /// The wish for usage, or another that the relay adds on its own.
    pub(super) usage: bool,
    /// All of them: the request was translated.
    pub(super) all: bool,
}

/// What came of an error.
pub(super) struct Failure {
    pub(super) ending: Ending,
    /// For the journal, without the provider's words.
    pub(super) detail: String,
    pub(super) error: ProviderError,
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
