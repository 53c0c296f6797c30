//! A provider, ready to be called: its client, address, key and slots.

use super::endpoint;
use super::fresh::MarkLayer;
use super::lookup::Resolver;
use crate::config;
use bytes::Bytes;
use dialect::request::Endpoint;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use shared::Dialect;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Idle connections kept per host, and for how long: enough for a burst after a
/// lull, and less long than the usual 60 s after which servers close them.
const IDLE_CONNECTIONS: usize = 256;
const IDLE_TIME: Duration = Duration::from_secs(50);

/// Response headers that a provider may send. Gateways in front of providers have been seen
/// to add more than 100, which is all that is read by default.
const MAX_HEADERS: usize = 1000;

/// The two clients of a provider.
#[derive(Debug, Clone)]
pub(super) struct Clients {
    pub(super) pooled: reqwest::Client,
    /// One that never reuses a connection.
    pub(super) fresh: reqwest::Client,
}

impl Clients {
    fn build(config: &config::ProviderConfig, roots: Option<&[u8]>) -> Result<Self, Why> {
        let pooled = build(config, roots, IDLE_CONNECTIONS)?;
        Ok(Self { pooled, fresh: build(config, roots, 0)? })
    }
}

thread_local! {
    /// Each worker's own clients, by the provider's number: a pooled connection
    /// lives in the reactor that made it, and a stream must not hop between two.
    static CLIENTS: RefCell<HashMap<usize, (Weak<()>, Clients)>> = RefCell::default();
}

/// Providers are numbered, since several relays may live in one process.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);

/// An account at one inference endpoint.
pub struct Provider {
    pub(super) number: usize,
    /// Held by every provider of this number: without one, its clients are let go.
    pub(super) alive: Arc<()>,
    pub(super) config: config::ProviderConfig,
    /// What its `ca_file` holds.
    pub(super) roots: Option<Vec<u8>>,
    pub(super) url: reqwest::Url,
    pub(super) headers: HeaderMap,
    pub(super) slots: Option<Arc<Semaphore>>,
    pub(super) secrets: Vec<String>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").finish_non_exhaustive()
    }
}

/// What is asked of a provider.
#[derive(Debug)]
pub struct Ask<'a> {
    /// The model's name at the provider; some dialects have it in the path.
    pub model: &'a str,
    /// What of the provider is called.
    pub endpoint: Endpoint,
    /// The request in the provider's dialect.
    pub body: Bytes,
    /// Headers of the client's that belong to the dialect and go along.
    pub along: &'a HeaderMap,
    /// The most bytes that an answer in one body may have.
    pub max_answer: usize,
    /// The body is sent on a connection of its own.
    pub once: bool,
}

/// A provider's settings that no client can be built from.
#[derive(Debug)]
pub struct CannotBuild {
    /// The provider's name.
    pub provider: String,
    /// What is wrong.
    pub why: Why,
}

/// What is wrong with a provider's settings; never an address or a key.
#[derive(Debug)]
pub enum Why {
    /// `base_url`, and what the parser says.
    BaseUrl(String),
    /// `ca_file` cannot be read.
    CaFile(std::io::Error),
    /// `ca_file` holds no certificate.
    NoCertificate,
    /// `api_key` cannot be sent.
    KeyCharacters,
    /// The name of one of `headers` is none.
    HeaderName(String),
    /// The value of this one of `headers` cannot be sent.
    HeaderValue(String),
    /// The HTTP client refuses the settings.
    Client(reqwest::Error),
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BaseUrl(error) => write!(f, "base_url: {error}"),
            Self::CaFile(error) => write!(f, "ca_file: {error}"),
            Self::NoCertificate => f.write_str("ca_file: no PEM certificate in it"),
            Self::KeyCharacters => f.write_str("api_key: holds characters that no header may"),
            Self::HeaderName(name) => write!(f, "headers: '{name}' is no header name"),
            Self::HeaderValue(name) => {
                write!(f, "headers: the value of '{name}' is not allowed in a header")
            }
            Self::Client(error) => write!(f, "no client can be built: {error}"),
        }
    }
}

impl std::fmt::Display for CannotBuild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "provider '{}': {}", self.provider, self.why)
    }
}

impl std::error::Error for CannotBuild {}

impl Provider {
    /// Builds the clients of one provider.
    ///
    /// # Errors
    /// A CA file without certificates, a header or address that HTTP does not allow.
    pub fn new(config: &config::ProviderConfig) -> Result<Self, CannotBuild> {
        let wrong = |why| CannotBuild { provider: config.name.clone(), why };
        let roots = roots(config).map_err(wrong)?;
        // Wrong settings are reported now, not at the first request.
        Clients::build(config, roots.as_deref()).map_err(wrong)?;
        let slots = config.max_connections.map(|most| Arc::new(Semaphore::new(most)));
        Self::with(config, roots, NUMBERS.fetch_add(1, Ordering::Relaxed), Arc::default(), slots)
    }

    /// The provider that follows `before` in a reload: itself if nothing has changed,
    /// else one that keeps its connections if only key, headers or matchers have.
    ///
    /// # Errors
    /// As [`Provider::new`].
    pub fn following(
        before: &Arc<Self>,
        config: &config::ProviderConfig,
    ) -> Result<Arc<Self>, CannotBuild> {
        let wrong = |why| CannotBuild { provider: config.name.clone(), why };
        let roots = roots(config).map_err(wrong)?;
        if before.roots != roots {
            return Ok(Arc::new(Self::new(config)?));
        }
        if before.config == *config {
            return Ok(Arc::clone(before));
        }
        let as_before = config::ProviderConfig {
            api_key: before.config.api_key.clone(),
            headers: before.config.headers.clone(),
            matchers: before.config.matchers.clone(),
            ..config.clone()
        };
        if as_before != before.config {
            return Ok(Arc::new(Self::new(config)?));
        }
        let (alive, slots) = (Arc::clone(&before.alive), before.slots.clone());
        Self::with(config, roots, before.number, alive, slots).map(Arc::new)
    }

    fn with(
        config: &config::ProviderConfig,
        roots: Option<Vec<u8>>,
        number: usize,
        alive: Arc<()>,
        slots: Option<Arc<Semaphore>>,
    ) -> Result<Self, CannotBuild> {
        let wrong = |why| CannotBuild { provider: config.name.clone(), why };
        let url = endpoint::base(config.dialect, &config.base_url)
            .map_err(|error| wrong(Why::BaseUrl(error.to_string())))?;
        Ok(Self {
            number,
            alive,
            roots,
            config: config.clone(),
            url,
            headers: headers(config).map_err(wrong)?,
            slots,
            secrets: secrets(config),
        })
    }

    /// Its name in the config.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// This thread's clients.
    ///
    /// # Errors
    /// They could be built at the start and cannot any more.
    pub(super) fn clients(&self) -> Result<Clients, Why> {
        CLIENTS.with_borrow_mut(|all| {
            if let Some((_, clients)) = all.get(&self.number) {
                return Ok(clients.clone());
            }
            let clients = Clients::build(&self.config, self.roots.as_deref())?;
            // Those of providers that reloads have replaced, once their last request is over.
            all.retain(|_, (alive, _)| alive.strong_count() > 0);
            all.insert(self.number, (Arc::downgrade(&self.alive), clients.clone()));
            Ok(clients)
        })
    }

    /// Builds this thread's clients, so that its first request need not.
    pub fn warm_up(&self) {
        if let Err(why) = self.clients() {
            tracing::error!(provider = %self.config.name, %why, "no client can be built");
        }
    }

    /// Its dialect.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.config.dialect
    }

    /// `text` without this provider's key and host, and without anything that looks like one.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        super::redact::redact(text, &self.secrets)
    }
}

/// What the provider's `ca_file` holds, if it has one.
fn roots(config: &config::ProviderConfig) -> Result<Option<Vec<u8>>, Why> {
    let read = |path| std::fs::read(path).map_err(Why::CaFile);
    config.ca_file.as_ref().map(read).transpose()
}

fn build(
    config: &config::ProviderConfig,
    roots: Option<&[u8]>,
    idle: usize,
) -> Result<reqwest::Client, Why> {
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .tcp_nodelay(true)
        .connect_timeout(config.connect)
        .pool_max_idle_per_host(idle)
        .pool_idle_timeout(IDLE_TIME)
        .http1_max_headers(MAX_HEADERS)
        .dns_resolver(Resolver)
        .connector_layer(MarkLayer);
    if !config.http2 {
        // Over HTTP/2 a few unread streams stall all others on the connection.
        builder = builder.http1_only();
    }
    if let Some(pem) = roots {
        let roots =
            reqwest::Certificate::from_pem_bundle(pem).map_err(|_unhelpful| Why::NoCertificate)?;
        if roots.is_empty() {
            return Err(Why::NoCertificate);
        }
        builder = builder.tls_certs_merge(roots);
    }
    builder.build().map_err(Why::Client)
}

fn headers(config: &config::ProviderConfig) -> Result<HeaderMap, Why> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    // Compressed events cannot be relayed as they come.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let agent = concat!("belay/", env!("CARGO_PKG_VERSION"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(agent));
    headers.extend(endpoint::headers(config.dialect));
    if let Some(key) = &config.api_key {
        let (name, value) = endpoint::credential(config.dialect, key.expose());
        let mut value = HeaderValue::from_str(&value).map_err(|_unprintable| Why::KeyCharacters)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &config.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_bad| Why::HeaderName(name.clone()))?;
        let value =
            HeaderValue::from_str(value).map_err(|_bad| Why::HeaderValue(name.to_string()))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// What must never appear in an error: the key, and the host in its forms.
fn secrets(config: &config::ProviderConfig) -> Vec<String> {
    let key = config.api_key.iter().map(|key| key.expose().to_owned());
    let host = reqwest::Url::parse(&config.base_url).ok().and_then(|url| {
        let host = url.host_str()?.to_owned();
        Some((url.port().map(|port| format!("{host}:{port}")), host))
    });
    let (with_port, host) = host.map_or((None, None), |(port, host)| (port, Some(host)));
    let headers = config.headers.iter().map(|(_, value)| value.clone());
    key.chain(with_port).chain(host).chain(headers).filter(|secret| secret.len() > 3).collect()
}
