//! The targets: nothing in between, nginx, and the relay; each a fresh process on its own core.

use crate::Res;
use crate::place::Place;
use crate::wire::KEY_SHA256;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What stands between client and mock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Direct,
    /// nginx as a plain reverse proxy, buffering off.
    Nginx,
    /// The relay.
    Belay,
    /// The relay, with somebody who watches its feed.
    Watched,
}

impl Kind {
    /// Its name in tables and JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Nginx => "nginx",
            Self::Belay => "belay",
            Self::Watched => "watched",
        }
    }
}

/// A target that serves; ended when dropped.
#[derive(Debug)]
pub(crate) struct Target {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Where its operators call, if it has any.
    pub(crate) admin: Option<SocketAddr>,
    child: Option<Child>,
    /// Its files; removed with it.
    folder: Option<tempfile::TempDir>,
}

impl Target {
    /// The process to measure.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// What it wrote to standard error.
    fn said(&self) -> String {
        let path = self.folder.as_ref().map(|folder| folder.path().join(LOG));
        path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // nginx takes its worker down with it only when asked politely.
            let pid = child.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &pid]).status();
            for _ in 0..50 {
                if matches!(child.try_wait(), Ok(Some(_))) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where the programs are and what they are put in front of.
#[derive(Debug)]
pub(crate) struct Targets {
    /// The mock.
    pub(crate) mock: SocketAddr,
    /// Another one, for requests that take it long to read.
    pub(crate) large: SocketAddr,
    /// The relay's release build.
    pub(crate) belay: PathBuf,
    /// nginx, if there is one.
    pub(crate) nginx: Option<PathBuf>,
    /// Which core each gets.
    pub(crate) place: Place,
}

impl Targets {
    /// Those that can be measured here.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let nginx = self.nginx.as_ref().map(|_| Kind::Nginx);
        let all = [Some(Kind::Direct), nginx, Some(Kind::Belay), Some(Kind::Watched)];
        all.into_iter().flatten().collect()
    }

    /// Starts one.
    pub(crate) fn start(&self, kind: Kind) -> Res<Target> {
        match kind {
            Kind::Direct => {
                Ok(Target { kind, address: self.mock, admin: None, child: None, folder: None })
            }
            Kind::Nginx => self.start_nginx(),
            Kind::Belay | Kind::Watched => self.start_belay(kind),
        }
    }

    fn start_nginx(&self) -> Res<Target> {
        let program = self.nginx.as_deref().ok_or("no nginx")?;
        let folder = tempfile::tempdir()?;
        // nginx cannot say which port the kernel gave it, so it is given a free one.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let path = folder.path().join("nginx.conf");
        fs::write(&path, nginx_conf(folder.path(), address, self.mock))?;
        let mut command = self.place.on_target_core(program);
        command.arg("-e").arg("stderr").arg("-p").arg(folder.path()).arg("-c").arg(&path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log(folder.path())?);
        let child = command.spawn()?;
        let (child, folder) = (Some(child), Some(folder));
        let target = Target { kind: Kind::Nginx, address, admin: None, child, folder };
        for _ in 0..100 {
            if TcpStream::connect(address).is_ok() {
                return Ok(target);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("nginx did not come up: {}", target.said()).into())
    }

    fn start_belay(&self, kind: Kind) -> Res<Target> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("belay.toml");
        fs::write(&path, belay_conf(folder.path(), self.mock, self.large))?;
        let mut command = self.place.on_target_core(&self.belay);
        command.arg("serve").arg("--config").arg(&path).current_dir(folder.path());
        command.env("BENCH_KEY", "sk-bench").env("RUST_LOG", "error");
        // One worker, like nginx, whatever the machine.
        command.env("TOKIO_WORKER_THREADS", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log(folder.path())?);
        let mut child = command.spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        let mut target = Target {
            kind,
            address: self.mock,
            admin: None,
            child: Some(child),
            folder: Some(folder),
        };
        let mut line = String::new();
        while output.read_line(&mut line)? > 0 {
            if let Some(rest) = line.trim().strip_prefix("belay: serving on http://") {
                target.address = rest.parse()?;
            } else if let Some(rest) = line.trim().strip_prefix("belay: admin on http://") {
                target.admin = Some(rest.parse()?);
                // Keep its pipe empty, or it would one day wait for us.
                std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
                return Ok(target);
            }
            line.clear();
        }
        Err(format!("the relay ended before it served: {}", target.said()).into())
    }
}

/// A target's standard error goes to a file: shown when it does not come up, else of no interest.
const LOG: &str = "stderr.log";

fn log(folder: &Path) -> Res<fs::File> {
    Ok(fs::File::create(folder.join(LOG))?)
}

fn nginx_conf(folder: &Path, listen: SocketAddr, mock: SocketAddr) -> String {
    let temp = |name: &str| format!("{name}_temp_path {}/{name};", folder.display());
    let temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(temp).join(" ");
    format!(
        "daemon off; worker_processes 1;\n\
         pid {folder}/nginx.pid; error_log stderr crit;\n\
         events {{ worker_connections 19000; }}\n\
         http {{\n\
         access_log off; {temps} keepalive_requests 10000000; keepalive_timeout 300s;\n\
         upstream mock {{ server {mock}; keepalive 4096; keepalive_requests 10000000; }}\n\
         server {{ listen {listen} backlog=4096; location / {{\n\
         proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection \"\";\n\
         proxy_buffering off; proxy_read_timeout 300s; }} }}\n\
         }}\n",
        folder = folder.display()
    )
}

/// The whole feature path: key check, routing, usage and price, journal. And a ladder whose
/// first rung leads nowhere, so that a breaker can be made to open.
fn belay_conf(folder: &Path, mock: SocketAddr, large: SocketAddr) -> String {
    format!(
        "[server]\nlisten = \"127.0.0.1:0\"\nmax_requests = 19000\n\
         [admin]\nlisten = \"127.0.0.1:0\"\n\
         [journal]\npath = \"{folder}/belay.db\"\n\
         [clients.bench]\nkey_sha256 = \"{KEY_SHA256}\"\n\
         [providers.mock]\ndialect = \"openai-chat\"\nbase_url = \"http://{mock}/v1\"\n\
         api_key = {{ env = \"BENCH_KEY\" }}\nmax_connections = 19000\n\
         [rungs.mock]\nprovider = \"mock\"\nmodel = \"bench-model\"\n\
         price = {{ input = 1.0, output = 2.0 }}\n\
         [providers.nobody]\ndialect = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
         [rungs.nobody]\nprovider = \"nobody\"\nmodel = \"bench-model\"\n\
         [providers.large]\ndialect = \"openai-chat\"\nbase_url = \"http://{large}/v1\"\n\
         [rungs.large]\nprovider = \"large\"\nmodel = \"bench-model\"\n\
         [ladders.large]\nrungs = [\"large\"]\n\
         [ladders.doomed]\nrungs = [\"nobody\", \"mock\"]\n\
         [ladders.bench]\nrungs = [\"mock\"]\n\
         clocks = {{ ttft = \"30s\", inter_token = \"30s\", total = \"300s\" }}\n",
        folder = folder.display()
    )
}
