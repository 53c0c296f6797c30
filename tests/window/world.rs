//! A real relay over simulated providers, its load, and the hand on both.

use crate::cast::{ME, RUNGS, config};
use crate::{Res, beside, wait_for};
use mock::{FaultSpec, Mock, MockOptions};
use serde::de::DeserializeOwned;
use serde_json::Value;
use shared::admin::{Board, RungState};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tests::client::{Exchange, request};
use tests::openai;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;

/// Tokens of an answer, and the time between them.
const TOKENS: usize = 12;
const GAP: Duration = Duration::from_millis(15);
/// No call to the admin API takes longer.
const LONGEST: Duration = Duration::from_secs(10);

/// The relay and its providers; they end with it.
#[derive(Debug)]
pub(crate) struct World {
    mocks: Vec<Mock>,
    relay: Child,
    data: SocketAddr,
    admin: SocketAddr,
    // Dropped after what runs in it, and after those who write there.
    runtime: Runtime,
    _folder: TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.relay.kill();
        let _ = self.relay.wait();
    }
}

/// Requests that keep coming until it is dropped.
#[derive(Debug)]
pub(crate) struct Load {
    asking: AbortHandle,
    answered: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.asking.abort();
    }
}

impl Load {
    /// How many were answered so far, and how many were not.
    pub(crate) fn so_far(&self) -> (u64, u64) {
        (self.answered.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}

impl World {
    /// Starts it in this folder, which may hold a journal already.
    pub(crate) fn start(folder: TempDir) -> Res<Self> {
        let program = beside("belay")?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let mocks = RUNGS.iter().map(|rung| {
            runtime.block_on(Mock::start(MockOptions {
                name: rung.provider.to_owned(),
                ttft: Duration::from_millis(rung.ttft_ms),
                gap: GAP,
                tokens: TOKENS,
                ..MockOptions::default()
            }))
        });
        let mocks = mocks.collect::<Result<Vec<_>, _>>()?;
        let addresses: Vec<_> = mocks.iter().map(Mock::addr).collect();
        let path = folder.path().join("belay.toml");
        std::fs::write(&path, config(folder.path(), &addresses))?;
        let (relay, data, admin) = serve(&program, &path)?;
        Ok(Self { mocks, relay, data, admin, runtime, _folder: folder })
    }

    /// Where the console connects.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.admin)
    }

    /// Makes a rung's provider misbehave, or behave again.
    pub(crate) fn fault(&self, rung: &str, fault: Option<&str>) -> Res<()> {
        let place = RUNGS.iter().position(|one| one.name == rung);
        let mock = place.and_then(|place| self.mocks.get(place));
        let spec = fault.map(str::parse::<FaultSpec>).transpose()?;
        mock.ok_or_else(|| format!("no rung {rung}"))?.set_fault(spec);
        Ok(())
    }

    /// A call to the admin API, by whoever has this token.
    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        (_, token): (&str, &str),
        (method, path): (&str, &str),
        body: Option<&Value>,
    ) -> Res<T> {
        let bearer = format!("Bearer {token}");
        let body = body.map(Value::to_string);
        let path = format!("/admin/v1/{path}");
        let headers = [("authorization", bearer.as_str())];
        let bytes =
            request(self.admin, method, &path, &headers, body.as_deref().map(str::as_bytes));
        let answer = self.runtime.block_on(async {
            let asking = async { Exchange::start(self.admin, &bytes).await.finish().await };
            tokio::time::timeout(LONGEST, asking).await
        })?;
        if answer.status != 200 {
            return Err(format!("{method} {path}: {} {}", answer.status, answer.body_text()).into());
        }
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// Reads something of the admin API.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Res<T> {
        self.call(ME, ("GET", path), None)
    }

    /// How everything stands.
    pub(crate) fn board(&self) -> Res<Board> {
        self.get("board")
    }

    /// Waits until a rung is so.
    pub(crate) fn until_rung(
        &self,
        name: &str,
        longest: Duration,
        is_so: impl Fn(&RungState) -> bool,
    ) -> Res<()> {
        wait_for(&format!("a change of {name}"), longest, || {
            let is_it = |rung: &RungState| rung.name == name && is_so(rung);
            Ok(self.board()?.rungs.iter().any(is_it).then_some(()))
        })
    }

    /// Sends so many requests to a ladder at once, and waits for none of them.
    pub(crate) fn send(&self, count: u32, ladder: &'static str) {
        for _ in 0..count {
            self.runtime.spawn(ask(self.data, ladder));
        }
    }

    /// So many requests a second, spread evenly over time and over these ladders.
    pub(crate) fn load(&self, rate: u32, ladders: &'static [&'static str]) -> Load {
        let (answered, failed) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let data = self.data;
        let counts = (Arc::clone(&answered), Arc::clone(&failed));
        let asking = self.runtime.spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
            for ladder in ladders.iter().cycle() {
                ticks.tick().await;
                let (answered, failed) = (Arc::clone(&counts.0), Arc::clone(&counts.1));
                tokio::spawn(async move {
                    let good = ask(data, ladder).await;
                    let count = if good { answered } else { failed };
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        Load { asking: asking.abort_handle(), answered, failed }
    }
}

/// One request; whether a whole answer came.
async fn ask(to: SocketAddr, ladder: &str) -> bool {
    let body = openai::ask(ladder).to_string();
    let headers = [("connection", "close")];
    let bytes = request(to, "POST", "/v1/chat/completions", &headers, Some(body.as_bytes()));
    let asking = async {
        let mut socket = TcpStream::connect(to).await?;
        socket.write_all(&bytes).await?;
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
    };
    // The relay may be gone before its last clients.
    asking.await.is_ok_and(|answer| answer.contains(openai::DONE))
}

/// Starts the relay and waits until it says where it listens.
fn serve(program: &Path, config: &Path) -> Res<(Child, SocketAddr, SocketAddr)> {
    let log = config.with_extension("log");
    let mut relay = Command::new(program)
        .arg("serve")
        .arg("--config")
        .arg(config)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(&log)?)
        .spawn()?;
    let mut output = BufReader::new(relay.stdout.take().ok_or("no standard output")?);
    let (mut data, mut line) = (None, String::new());
    while output.read_line(&mut line)? > 0 {
        if let Some(rest) = line.trim().strip_prefix("belay: serving on http://") {
            data = Some(rest.parse()?);
        } else if let Some(rest) = line.trim().strip_prefix("belay: admin on http://") {
            let admin = rest.parse()?;
            // Keep its pipe empty, or it would one day wait for us.
            std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
            return Ok((relay, data.ok_or("no address for clients")?, admin));
        }
        line.clear();
    }
    let (status, said) = (relay.wait()?, std::fs::read_to_string(log)?);
    Err(format!("the relay ended before it served ({status}): {said}").into())
}
