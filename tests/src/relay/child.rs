//! The relay's process: how it starts, what it says, how it ends.

use super::program;
use crate::clock;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::Command;
use tokio::task::JoinHandle;

/// What it prints once it serves.
const SERVING: &str = "belay: serving on http://";
const ADMIN: &str = "belay: admin on http://";

#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    pid: u32,
    pub(super) data: SocketAddr,
    pub(super) admin: SocketAddr,
    log: Arc<Mutex<String>>,
    logging: Option<JoinHandle<()>>,
}

impl Child {
    /// Starts it and waits until it says where it listens.
    pub(super) async fn spawn(config: &Path, env: &[(String, String)]) -> Self {
        let mut process = Command::new(program())
            .arg("serve")
            .arg("--config")
            .arg(config)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the relay's program starts");
        let pid = process.id().expect("just started");
        let log = Arc::new(Mutex::new(String::new()));
        let logging = Some(tokio::spawn(keep(process.stderr.take().unwrap(), log.clone())));
        let said = Arc::new(Mutex::new(String::new()));
        tokio::spawn(keep(process.stdout.take().unwrap(), said.clone()));
        let (data, admin) = clock::eventually("the relay to serve", async || {
            if let Ok(Some(status)) = process.try_wait() {
                // Its last words may still be on their way.
                tokio::time::sleep(clock::ms(50)).await;
                panic!("the relay ended ({status}): {}", log.lock().unwrap());
            }
            let said = said.lock().unwrap();
            Some((address(&said, SERVING)?, address(&said, ADMIN)?))
        })
        .await;
        Self { process, pid, data, admin, log, logging }
    }

    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(super) async fn kill(&mut self) {
        // Already gone is just as well.
        let _ = self.process.kill().await;
        self.last_words().await;
    }

    pub(super) fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.pid.to_string())
            .status()
            .expect("`kill` is there");
        assert!(sent.success(), "the relay is gone already: {}", self.log());
    }

    pub(super) async fn exited(&mut self) -> ExitStatus {
        let status = clock::within("the relay to end", self.process.wait()).await.unwrap();
        self.last_words().await;
        status
    }

    /// Waits until all that a dead relay wrote has been read.
    async fn last_words(&mut self) {
        if let Some(logging) = self.logging.take() {
            clock::within("the relay's last words", logging).await.unwrap();
        }
    }

    pub(super) const fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn threads(&self) -> Vec<(String, u64)> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid)).unwrap();
        let stats =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok());
        stats
            .map(|stat| {
                // `id (name) state ...`; the 14th field of all is the time.
                let (id_and_name, rest) = stat.rsplit_once(") ").unwrap();
                let (_, name) = id_and_name.split_once(" (").unwrap();
                (name.to_owned(), rest.split_whitespace().nth(11).unwrap().parse().unwrap())
            })
            .collect()
    }

    pub(super) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
        let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kib * 1024
    }
}

async fn keep(stream: impl AsyncRead + Unpin, text: Arc<Mutex<String>>) {
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let mut text = text.lock().unwrap();
        text.push_str(&line);
        text.push('\n');
    }
}

fn address(said: &str, prefix: &str) -> Option<SocketAddr> {
    said.lines().find_map(|line| line.strip_prefix(prefix)?.trim().parse().ok())
}
