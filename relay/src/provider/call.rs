//! One upstream call, polled for its events.
//!
//! Dropping a call closes its connection, silent or not: that is how an
//! attempt is cut.

use super::body;
use super::client::{Ask, Provider};
use super::endpoint;
use super::fresh::watching;
use crate::wall;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body::Body as _;
use rustix::io::Errno;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// Error bodies are read up to this size.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// The body of an error that does not come within this is not waited for: its status
/// and headers say what matters.
const ERROR_BODY_TIME: Duration = Duration::from_millis(500);
/// A provider's last chunk follows its terminator within this, or the connection is closed.
const END_OF_BODY: Duration = Duration::from_secs(1);
/// A reused connection that dies within this was closed by the provider while it was idle, most
/// likely. One that dies later may have died of the request.
const STALE: Duration = Duration::from_millis(500);

/// What came of an upstream call.
#[derive(Debug)]
pub enum CallEvent {
    /// The head of an event stream; bytes follow.
    Head,
    /// Some bytes of the event stream.
    Bytes(Bytes),
    /// The event stream's body ended cleanly.
    EndOfBody,
    /// A whole JSON body with status 200.
    Whole(Bytes),
    /// Another status.
    Status {
        /// The status.
        status: u16,
        /// Its headers, for Retry-After.
        headers: HeaderMap,
        /// The start of its body.
        body: Bytes,
    },
    /// The body broke.
    Broken(&'static str),
    /// A 200 that is not the dialect at all.
    NotTheDialect(String),
    /// The whole body was over the limit.
    TooLarge,
    /// No connection: nothing was sent.
    NotConnected(&'static str),
    /// No connection within the provider's `connect` time.
    ConnectTimeout,
    /// The relay itself is not able to connect to anybody.
    OwnFault(&'static str),
    /// Sent, and closed without an answer.
    NoAnswer(&'static str),
    /// Sent on a reused connection, which was closed at once without an answer.
    Stale,
    /// Closed without an answer while the body was still being sent.
    NotTaken,
}

type Opening = Pin<Box<dyn Future<Output = Opened> + Send>>;

struct Opened {
    said: CallEvent,
    /// The body that follows, when `said` is the head of a stream.
    body: Option<reqwest::Body>,
    slot: Option<OwnedSemaphorePermit>,
}

enum State {
    Opening(Opening),
    Reading(reqwest::Body),
    Over,
}

/// What is sent.
pub(super) struct Sending {
    pub(super) url: reqwest::Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// One upstream call.
pub struct Call {
    state: State,
    /// Held until the call is over: the provider's connections are counted.
    slot: Option<OwnedSemaphorePermit>,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}

impl Provider {
    /// Starts a call; poll it for the provider's answer.
    #[must_use]
    pub fn call(self: &Arc<Self>, ask: Ask<'_>) -> Call {
        let url = endpoint::url_for(self.config.dialect, &self.url, ask.endpoint, ask.model);
        let mut headers = self.headers.clone();
        // The provider's own settings beat what a client sent along.
        for (name, value) in ask.along {
            if !self.config.headers.iter().any(|(own, _)| own == name.as_str()) {
                headers.insert(name, value.clone());
            }
        }
        Call::start(
            Arc::clone(self),
            Sending { url, headers, body: ask.body },
            ask.max_answer,
            ask.once,
        )
    }
}

impl Call {
    pub(super) fn start(
        provider: Arc<Provider>,
        sending: Sending,
        max_answer: usize,
        once: bool,
    ) -> Self {
        let opening = Box::pin(open(provider, sending, max_answer, once));
        Self { state: State::Opening(opening), slot: None }
    }

    /// A call that is not made, since the request cannot be put into the provider's words:
    /// its answer is that the request is wrong.
    #[must_use]
    pub fn unable(feature: &str) -> Self {
        let message = format!("'{feature}' cannot be said to this provider. Leave it out.");
        let body = serde_json::json!({"error": {"message": message, "param": feature}});
        let said = CallEvent::Status {
            status: 400,
            headers: HeaderMap::new(),
            body: body.to_string().into(),
        };
        let opened = Opened { said, body: None, slot: None };
        Self { state: State::Opening(Box::pin(std::future::ready(opened))), slot: None }
    }

    /// A call that is not made, by a fault of the relay's own.
    #[must_use]
    pub fn own_fault(why: &'static str) -> Self {
        let opened = Opened { said: CallEvent::OwnFault(why), body: None, slot: None };
        Self { state: State::Opening(Box::pin(std::future::ready(opened))), slot: None }
    }

    /// The answer is whole: reads the end of its body in the background, for a moment,
    /// so that the connection can serve again. Dropping the call would close it.
    pub fn finish(self) {
        let (State::Reading(mut body), slot) = (self.state, self.slot) else { return };
        tokio::spawn(async move {
            // Whatever still comes is no end: the connection is closed with the body.
            let end = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            drop(tokio::time::timeout(END_OF_BODY, end).await);
            drop(slot);
        });
    }

    /// The next event. After an ending, and after `Whole` or `Status`, there is none.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<CallEvent> {
        match &mut self.state {
            State::Opening(opening) => {
                let Poll::Ready(opened) = opening.as_mut().poll(cx) else { return Poll::Pending };
                self.slot = opened.slot;
                self.state = opened.body.map_or(State::Over, State::Reading);
                Poll::Ready(opened.said)
            }
            State::Reading(body) => loop {
                let said = match Pin::new(&mut *body).poll_frame(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(None) => CallEvent::EndOfBody,
                    Poll::Ready(Some(Err(error))) => CallEvent::Broken(breakage(&error)),
                    Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                        Ok(bytes) => return Poll::Ready(CallEvent::Bytes(bytes)),
                        Err(_trailers) => continue,
                    },
                };
                self.state = State::Over;
                self.slot = None;
                return Poll::Ready(said);
            },
            State::Over => Poll::Pending,
        }
    }
}

async fn open(provider: Arc<Provider>, sending: Sending, max_answer: usize, once: bool) -> Opened {
    let slot = match &provider.slots {
        Some(slots) => Arc::clone(slots).acquire_owned().await.ok(),
        None => None,
    };
    let (said, body) = match send(&provider, sending, once).await {
        Ok(response) => receive(response, max_answer).await,
        Err(said) => (said, None),
    };
    Opened { said, body, slot }
}

/// Sends the request, once.
async fn send(
    provider: &Provider,
    sending: Sending,
    once: bool,
) -> Result<reqwest::Response, CallEvent> {
    let clients =
        provider.clients().map_err(|_why| CallEvent::OwnFault("no client can be built"))?;
    if once {
        let length = sending.body.len();
        return post(&clients.fresh, sending).await.map_err(|error| no_head(&error, length));
    }
    let (began, length) = (wall::now(), sending.body.len());
    let (answer, connected) = watching(post(&clients.pooled, sending)).await;
    answer.map_err(|error| {
        let reused = !connected && !error.is_connect();
        let at_once = wall::now().since(began) < STALE;
        if reused && at_once { CallEvent::Stale } else { no_head(&error, length) }
    })
}

async fn post(
    client: &reqwest::Client,
    Sending { url, headers, body }: Sending,
) -> Result<reqwest::Response, reqwest::Error> {
    client.post(url).headers(headers).body(body::outgoing(body)).send().await
}

async fn receive(
    response: reqwest::Response,
    max_answer: usize,
) -> (CallEvent, Option<reqwest::Body>) {
    let status = response.status().as_u16();
    let headers = response.headers();
    if status != 200 {
        let headers = headers.clone();
        let body = start_of(response, MAX_ERROR_BODY).await;
        return (CallEvent::Status { status, headers, body }, None);
    }
    if let Some(encoding) = text(headers, &header::CONTENT_ENCODING)
        && !encoding.eq_ignore_ascii_case("identity")
    {
        return (CallEvent::NotTheDialect("encoded although asked for identity".to_owned()), None);
    }
    match text(headers, &header::CONTENT_TYPE).map(media_type) {
        Some(kind) if kind.eq_ignore_ascii_case("text/event-stream") => {
            (CallEvent::Head, Some(reqwest::Body::from(response)))
        }
        Some(kind)
            if kind.eq_ignore_ascii_case("application/json")
                // Seen in the wild on JSON answers.
                || kind.eq_ignore_ascii_case("application/octet-stream") =>
        {
            (whole(response, max_answer).await, None)
        }
        // The type is the provider's text: only its shape is reported, never its content.
        Some(kind) if kind.eq_ignore_ascii_case("text/html") => {
            (CallEvent::NotTheDialect("content type text/html".to_owned()), None)
        }
        Some(_) => (CallEvent::NotTheDialect("unexpected content type".to_owned()), None),
        None => (CallEvent::NotTheDialect("no content type".to_owned()), None),
    }
}

async fn whole(mut response: reqwest::Response, limit: usize) -> CallEvent {
    let mut body = BytesMut::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len().saturating_add(chunk.len()) > limit => {
                return CallEvent::TooLarge;
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return CallEvent::Whole(body.freeze()),
            Err(error) => return CallEvent::Broken(breakage(&error)),
        }
    }
}

/// The start of an error's body; of one that breaks off or hangs, what came until then.
async fn start_of(mut response: reqwest::Response, limit: usize) -> Bytes {
    let mut body = BytesMut::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = limit.saturating_sub(body.len());
            body.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
            if body.len() >= limit {
                break;
            }
        }
    };
    let _whole_or_its_start = tokio::time::timeout(ERROR_BODY_TIME, reading).await;
    body.freeze()
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// What failed, in our own words: the client library's text would name addresses. `length` is
/// the request body's.
fn no_head(error: &reqwest::Error, length: usize) -> CallEvent {
    if !error.is_connect() {
        // A small body fits into the socket's buffer: whether it was taken is not known.
        if length > body::PIECE && failed_while_sending(error) {
            return CallEvent::NotTaken;
        }
        return CallEvent::NoAnswer("connection closed without an answer");
    }
    if let Some(why) = own_fault(error) {
        return CallEvent::OwnFault(why);
    }
    if error.is_timeout() {
        return CallEvent::ConnectTimeout;
    }
    CallEvent::NotConnected(if error.is_dns() {
        "the host name has no address"
    } else if is_tls(error) {
        "TLS was not accepted"
    } else {
        "connection refused or unreachable"
    })
}

fn failed_while_sending(error: &reqwest::Error) -> bool {
    // The library has no other name for it.
    let is_write = |cause: &hyper::Error| cause.to_string().starts_with("error writing a body");
    causes(error).filter_map(|cause| cause.downcast_ref::<hyper::Error>()).any(is_write)
}

fn is_tls(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        cause.is::<rustls::Error>()
            || io.and_then(std::io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
    })
}

/// What the relay itself has none left of, if that is why it could not connect.
fn own_fault(error: &reqwest::Error) -> Option<&'static str> {
    let mut errors = causes(error)
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .filter_map(std::io::Error::raw_os_error);
    errors.find_map(exhausted).or_else(|| {
        // Looking a name up needs files as well, and does not say so where it has none.
        let opened = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        opened.err().and_then(|error| exhausted(error.raw_os_error()?))
    })
}

fn exhausted(code: i32) -> Option<&'static str> {
    Some(match Errno::from_raw_os_error(code) {
        Errno::MFILE | Errno::NFILE => {
            "the relay itself has too many files open: raise its limit (ulimit -n)"
        }
        Errno::ADDRNOTAVAIL => "the relay's machine has no local port left",
        Errno::NOMEM | Errno::NOBUFS => "the relay's machine has no memory left",
        _ => return None,
    })
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(error), |cause| cause.source())
}

fn breakage(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() { "the body timed out" } else { "connection lost in the body" }
}
