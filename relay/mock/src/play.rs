//! Plays a script to one client.

use std::io;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, StatusCode, header};

use super::frame::random;
use super::record::Ended;
use super::script::{Script, Sent, Step};
use super::state::Ticket;

/// Answers as the script says. The ticket goes with the body, so that it ends when hyper drops the
/// body, for whatever reason.
pub(super) async fn play(mut script: Script, mut ticket: Ticket) -> Response {
    match script.head_after {
        Some(time) => ticket.pace.wait(time).await,
        None => std::future::pending().await,
    }
    let retry_after = script.retry_after.take();
    let (status, content_type) = (script.status, script.content_type);
    ticket.head(status);
    let mut response = Response::new(Body::from_stream(stream::unfold(
        Player { script, ticket, dripping: Bytes::new() },
        Player::next,
    )));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, must-revalidate"));
    let mut own = |name, value: Option<String>| {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(name, value);
        }
    };
    own(header::RETRY_AFTER, retry_after);
    own(header::HeaderName::from_static("x-request-id"), Some(format!("req_{}", random(24))));
    response
}

/// A script being played.
struct Player {
    script: Script,
    ticket: Ticket,
    /// The rest of the bytes that are sent one by one.
    dripping: Bytes,
}

impl Player {
    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        loop {
            if let Some(byte) = self.drop_of_drip().await {
                return Some((Ok(byte), self));
            }
            match self.script.steps.pop_front() {
                Some(Step::Wait(time)) => self.ticket.pace.wait(time).await,
                Some(Step::Send(bytes, sent)) => {
                    self.count(sent);
                    if self.script.drip.is_some() {
                        self.dripping = bytes;
                    } else if !bytes.is_empty() {
                        return Some((Ok(bytes), self));
                    }
                }
                Some(Step::Silence) => std::future::pending().await,
                Some(Step::Repeat(bytes, gap)) => {
                    let gap = gap.max(std::time::Duration::from_millis(1));
                    self.script.steps.push_back(Step::Wait(gap));
                    self.script.steps.push_back(Step::Repeat(bytes, gap));
                    return Some((Ok(Bytes::from_static(bytes)), self));
                }
                Some(Step::Break) => {
                    // Yields, so that hyper has written what came before.
                    self.ticket.pace.wait(std::time::Duration::ZERO).await;
                    self.ticket.ended(self.script.ended);
                    let reset = io::Error::from(io::ErrorKind::ConnectionReset);
                    return Some((Err(reset), self));
                }
                None => {
                    self.ticket.ended(self.script.ended);
                    return None;
                }
            }
        }
    }

    async fn drop_of_drip(&mut self) -> Option<Bytes> {
        if self.dripping.is_empty() {
            return None;
        }
        self.ticket.pace.wait(self.script.drip?).await;
        Some(self.dripping.split_to(1))
    }

    fn count(&mut self, sent: Sent) {
        match sent {
            Sent::Token => self.ticket.event(true),
            Sent::Event => self.ticket.event(false),
            Sent::Last | Sent::LastToken => {
                self.ticket.event(sent == Sent::LastToken);
                self.ticket.ended(Ended::Done);
            }
            Sent::Bytes => {}
        }
    }
}
