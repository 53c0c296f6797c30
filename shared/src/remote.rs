//! The admin API of a relay, called from outside: one relay, its token, its errors.
//!
//! Every error names the relay and what to do. A call that may have been carried out has another
//! error than a call that certainly was not: the first must be looked up, and only the second may
//! be repeated. The token is never part of a text.

use crate::admin::changes::{Refusal, RefusalDetail};
use http::{HeaderValue, Method, StatusCode, header};
use reqwest::Url;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a relay's admin plane is by default.
pub const LOOPBACK: &str = "http://127.0.0.1:8788";
/// How long a call may take.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long a check may take: it calls a provider.
pub const CHECK_PATIENCE: Duration = Duration::from_secs(60);
/// The largest answer that is read: a board of hundreds of rungs with their curves.
const MOST: usize = 64 << 20;

/// One relay.
#[derive(Clone)]
pub struct Remote {
    base: Url,
    shown: String,
    client: reqwest::Client,
    token: Option<HeaderValue>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Why a call did not do what it was meant to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// It was not sent: nothing was done.
    NotSent(String),
    /// It was sent, and no answer came: it may have been done.
    NotConfirmed(String),
    /// The relay refused it: nothing was done.
    Refused(StatusCode, Box<RefusalDetail>, String),
}

impl Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(text) | Self::NotConfirmed(text) | Self::Refused(_, _, text) => {
                f.write_str(text)
            }
        }
    }
}

/// An answer, as JSON and as a value.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// The API's own JSON.
    pub json: String,
    /// The value that was read from the JSON.
    pub value: T,
}

/// Why a relay cannot be called at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteError {
    /// The token's file cannot be read: its path, and the system's error.
    TokenFile(PathBuf, String),
    /// The token's file is empty: its path.
    TokenFileEmpty(PathBuf),
    /// The token has characters that no header may have. The error does not show the token.
    BadToken,
    /// The address is not valid: what was given.
    NoAddress(String),
    /// The address has a user or a password in it. The error does not show them, because a password
    /// would stay visible in somebody's terminal.
    UserInAddress,
    /// No HTTP client can be built: the reason.
    NoClient(String),
}

impl Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TokenFile(path, error) => {
                write!(f, "--token-file {} cannot be read: {error}.", path.display())
            }
            Self::TokenFileEmpty(path) => {
                write!(f, "--token-file {} is empty; put the token in it.", path.display())
            }
            Self::BadToken => f.write_str(
                "The token has characters in it that no token has. Look at BELAY_TOKEN or the \
                 --token-file.",
            ),
            Self::NoAddress(base) => write!(
                f,
                "'{base}' is no relay's address. Write it like {LOOPBACK}, without a query."
            ),
            Self::UserInAddress => f.write_str(
                "A relay's address has no user or password in it: it takes a token, from \
                 BELAY_TOKEN or --token-file.",
            ),
            Self::NoClient(error) => write!(f, "no HTTP client can be built: {error}"),
        }
    }
}

impl std::error::Error for RemoteError {}

/// The token in `file`, or without a file the one in `BELAY_TOKEN`; `None` if there is none.
///
/// # Errors
/// The file cannot be read, or is empty.
pub fn token(file: Option<&Path>) -> Result<Option<String>, RemoteError> {
    let Some(path) = file else {
        let token = std::env::var("BELAY_TOKEN").unwrap_or_default();
        return Ok(Some(token.trim().to_owned()).filter(|token| !token.is_empty()));
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| RemoteError::TokenFile(path.to_owned(), error.to_string()))?;
    match text.trim() {
        "" => Err(RemoteError::TokenFileEmpty(path.to_owned())),
        token => Ok(Some(token.to_owned())),
    }
}

/// The relays that a command line names, else those of `named` (`BELAY_RELAY`, with spaces
/// between them), else the one on this machine.
#[must_use]
pub fn relays(given: &[String], named: &str) -> Vec<String> {
    let mut urls = given.to_vec();
    if urls.is_empty() {
        urls.extend(named.split_whitespace().map(str::to_owned));
    }
    if urls.is_empty() {
        urls.push(LOOPBACK.to_owned());
    }
    urls
}

impl Remote {
    /// A relay at `base`, such as `http://127.0.0.1:8788`.
    ///
    /// # Errors
    /// `base` is no such URL, or the token cannot be sent.
    pub fn new(base: &str, token: Option<&str>) -> Result<Self, RemoteError> {
        let wrong = || RemoteError::NoAddress(base.to_owned());
        let mut url: Url = base.parse().map_err(|_unhelpful| wrong())?;
        let plain = matches!(url.scheme(), "http" | "https") && url.has_host();
        if !plain || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RemoteError::UserInAddress);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        let token = token.map(bearer).transpose()?;
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .user_agent(concat!("belay/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| RemoteError::NoClient(error.to_string()))?;
        let shown = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { base: url, shown, client, token })
    }

    /// The same relay, called with another token.
    ///
    /// # Errors
    /// The token cannot be sent.
    pub fn with_token(&self, token: &str) -> Result<Self, RemoteError> {
        Ok(Self { token: Some(bearer(token)?), ..self.clone() })
    }

    /// Its base URL.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// A warning if the token would be sent unencrypted; `None` if it would not.
    #[must_use]
    pub fn in_clear(&self) -> Option<String> {
        (leaves_in_clear(&self.base) && self.token.is_some()).then(|| {
            format!(
                "{}: the token travels in clear. Use https://, or a tunnel to 127.0.0.1.",
                self.shown
            )
        })
    }

    /// Sends a call that only reads.
    ///
    /// # Errors
    /// See [`CallError`]; nothing can have been done.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(String, String)],
    ) -> Result<Answer<T>, CallError> {
        self.call(Method::GET, path, query, None::<&()>, PATIENCE).await
    }

    /// Sends a call that does something.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: &impl Serialize,
        patience: Duration,
    ) -> Result<Answer<T>, CallError> {
        self.call(method, path, &[], Some(body), patience).await
    }

    /// Opens the feed, after the event `last` if that is not empty. Only the head is waited for;
    /// the feed is read for as long as the relay sends events.
    ///
    /// # Errors
    /// See [`CallError`]; nothing can have been done.
    pub async fn feed(&self, last: &str) -> Result<reqwest::Response, CallError> {
        let mut request = self.client.request(Method::GET, self.url(&["feed"]));
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, token.clone());
        }
        if !last.is_empty() {
            request = request.header("last-event-id", last);
        }
        let sent = tokio::time::timeout(PATIENCE, request.send()).await;
        let answer = match sent {
            Ok(sent) => sent.map_err(|error| self.lost(&error))?,
            Err(_elapsed) => return Err(self.late(PATIENCE)),
        };
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        let text = tokio::time::timeout(PATIENCE, answer.text()).await;
        let text = text.ok().and_then(Result::ok).unwrap_or_default();
        self.read::<()>(status, text)
            .and_then(|_never| Err(CallError::NotSent(format!("{}: HTTP {status}", self.shown))))
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            // Names come from a command line: each is one segment, whatever characters it has.
            segments.pop_if_empty().extend(["admin", "v1"]).extend(path);
        }
        url
    }

    fn late(&self, patience: Duration) -> CallError {
        CallError::NotConfirmed(format!(
            "{} gave no answer within {} s. Is it overloaded, or the network down?",
            self.shown,
            patience.as_secs()
        ))
    }

    /// The error for a call that got no answer.
    fn lost(&self, error: &reqwest::Error) -> CallError {
        let (relay, why) = (&self.shown, cause(error));
        if error.is_connect() || error.is_builder() {
            CallError::NotSent(format!(
                "{relay} does not answer: {why}. Is the relay up, the address right, the tunnel \
                 open?"
            ))
        } else {
            CallError::NotConfirmed(format!("{relay} broke off before it answered: {why}."))
        }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&impl Serialize>,
        patience: Duration,
    ) -> Result<Answer<T>, CallError> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.client.request(method, url);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, token.clone());
        }
        if let Some(body) = body {
            let body = serde_json::to_vec(body)
                .map_err(|error| CallError::NotSent(format!("{}: {error}", self.shown)))?;
            request = request.header(header::CONTENT_TYPE, "application/json").body(body);
        }
        match tokio::time::timeout(patience, self.answer(request)).await {
            Ok(Ok((status, text))) => self.read(status, text),
            Ok(Err(error)) => Err(error),
            Err(_elapsed) => Err(self.late(patience)),
        }
    }

    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<(StatusCode, String), CallError> {
        let relay = &self.shown;
        let mut response = request.send().await.map_err(|error| self.lost(&error))?;
        let status = response.status();
        let mut text = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if text.len() + chunk.len() <= MOST => text.extend(chunk),
                Ok(Some(_)) => {
                    let why = format!("{relay} answered with more than {MOST} bytes.");
                    return Err(CallError::NotConfirmed(why));
                }
                Ok(None) => break,
                Err(error) => {
                    let why = cause(&error);
                    let why = format!("{relay} broke off in the middle of its answer: {why}.");
                    return Err(CallError::NotConfirmed(why));
                }
            }
        }
        Ok((status, String::from_utf8_lossy(&text).into_owned()))
    }

    fn read<T: DeserializeOwned>(
        &self,
        status: StatusCode,
        json: String,
    ) -> Result<Answer<T>, CallError> {
        let relay = &self.shown;
        if status.is_success() {
            return match serde_json::from_str(&json) {
                Ok(value) => Ok(Answer { json, value }),
                Err(error) => Err(CallError::NotConfirmed(format!(
                    "{relay} answered with what this program does not understand: {error}. Is it \
                     a relay's admin address, and of the same version?"
                ))),
            };
        }
        let detail = serde_json::from_str::<Refusal>(&json).map(|refusal| refusal.error);
        let detail = detail.unwrap_or_default();
        let said = match (status, detail.message.as_str()) {
            (StatusCode::UNAUTHORIZED, _) if self.token.is_none() => {
                "it wants a token. Put one of its admin.tokens into BELAY_TOKEN or a --token-file."
                    .to_owned()
            }
            (StatusCode::UNAUTHORIZED, _) => "it does not know this token. Look at BELAY_TOKEN or \
                                              the --token-file, and at admin.tokens of its config."
                .to_owned(),
            (_, "") => format!("HTTP {status}. Is it a relay's admin address?"),
            (_, message) => message.to_owned(),
        };
        let text = format!("{relay}: {said}");
        // An error from a gateway, or from a relay that is stopping, does not say what was done.
        if status.is_server_error() && status != StatusCode::INSUFFICIENT_STORAGE {
            return Err(CallError::NotConfirmed(text));
        }
        Err(CallError::Refused(status, Box::new(detail), text))
    }
}

/// Whether what is sent to this address could be read on its way: plain HTTP to another machine.
/// Nothing is sent to a text that is no address, so for such a text it is `false`.
#[must_use]
pub fn is_in_clear(url: &str) -> bool {
    url.parse().is_ok_and(|url: Url| leaves_in_clear(&url))
}

fn leaves_in_clear(url: &Url) -> bool {
    let local = match url.host_str().unwrap_or_default() {
        "localhost" => true,
        host => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
    };
    url.scheme() == "http" && !local
}

/// The header that carries a token.
fn bearer(token: &str) -> Result<HeaderValue, RemoteError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_unhelpful| RemoteError::BadToken)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The innermost cause: the system's message, without the address, which `shown` has.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_and_secrets_in_them_not_repeated() {
        let _already = rustls::crypto::ring::default_provider().install_default();
        for good in ["http://127.0.0.1:8788", "https://relay.example/eu/", "http://[::1]:1"] {
            assert!(Remote::new(good, None).is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:8788", "ftp://x", "http://x?y=1", "http://x#y", "http://"] {
            assert!(Remote::new(bad, None).is_err(), "{bad}");
        }
        let told = |base: &str, token| Remote::new(base, token).unwrap_err().to_string();
        let error = told("http://ana:hunter2@relay.example", None);
        assert!(!error.contains("hunter2") && error.contains("BELAY_TOKEN"), "{error}");
        let error = told(LOOPBACK, Some("hunter\n2"));
        assert!(!error.contains("hunter") && error.contains("BELAY_TOKEN"), "{error}");
        let remote = Remote::new("https://relay.example/eu/", Some("hunter2")).unwrap();
        assert_eq!(remote.shown(), "https://relay.example/eu");
        assert!(!format!("{remote:?}").contains("hunter2"));
    }

    #[test]
    fn a_token_in_clear_is_warned_of_where_it_leaves_the_machine() {
        let _already = rustls::crypto::ring::default_provider().install_default();
        let warns = |url: &str, token| Remote::new(url, token).unwrap().in_clear().is_some();
        assert!(warns("http://relay.example:8788", Some("t")));
        assert!(warns("http://10.0.0.1:8788", Some("t")));
        assert!(!warns("http://relay.example:8788", None));
        assert!(!warns("https://relay.example:8788", Some("t")));
        // A host name is not a number, whatever it begins with.
        assert!(is_in_clear("http://127.0.0.1.relay.example") && is_in_clear("http://localhost.x"));
        assert!(!is_in_clear("http://127.0.0.1:8788") && !is_in_clear("no address"));
        for local in
            ["http://127.0.0.1:1", "http://127.8.0.1:1", "http://[::1]:1", "http://localhost:1"]
        {
            assert!(!warns(local, Some("t")), "{local}");
        }
    }
}
