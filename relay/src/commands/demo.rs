//! `belay demo`: something to look at within a minute.
//!
//! Three simulated providers run as processes of their own, so that one can
//! really be killed; the relay serves a ladder over them.

mod traffic;

use super::common::{Failed, block_on, print_line, watched_config};
use super::running::{Listeners, Ready, run_relay};
use super::watching::Source;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use traffic::Simulated;

/// Arguments of `belay demo`.
#[derive(Debug, clap::Args)]
pub(super) struct DemoArgs {
    /// Where clients call.
    #[arg(long, default_value = "127.0.0.1:8787", value_name = "ADDR")]
    listen: SocketAddr,
    /// Where operators call.
    #[arg(long, default_value = "127.0.0.1:8788", value_name = "ADDR")]
    admin: SocketAddr,
    /// Where the demo's config and journal are kept.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Make load and incidents, over and over, so that there is something to see.
    #[arg(long)]
    traffic: bool,
    /// How long each incident lasts, and the calm after it.
    #[arg(long, default_value = "25s", value_parser = humantime::parse_duration, value_name = "TIME", requires = "traffic")]
    phase: Duration,
}

/// The providers: name, first token, pace, price in and out.
const PROVIDERS: [(&str, &str, &str, f64, f64); 3] = [
    ("alpha", "400ms", "40ms", 2.5, 10.0),
    ("bravo", "600ms", "50ms", 3.0, 15.0),
    ("local", "900ms", "70ms", 0.0, 0.0),
];

pub(super) fn run(args: &DemoArgs) -> Result<(), Failed> {
    block_on(demo(args))?
}

async fn demo(args: &DemoArgs) -> Result<(), Failed> {
    // Before anything is written: a second demo must not touch the first one's files.
    let listeners = Listeners::bind(args.listen, args.admin)?;
    let folder = args.folder.clone().unwrap_or_else(|| default_folder(args.listen.port()));
    let unusable = |error: std::io::Error| {
        let folder = folder.display();
        Failed(format!(
            "belay: the demo's folder {folder} cannot be used: {error}. Name another with --folder."
        ))
    };
    std::fs::create_dir_all(&folder).map_err(unusable)?;
    let mut providers = Vec::new();
    for (name, ttft, gap, ..) in PROVIDERS {
        providers.push(simulate(name, ttft, gap).await?);
    }
    let path = folder.join("belay.toml");
    std::fs::write(&path, config_text(args, &providers)?).map_err(unusable)?;
    let (loaded, seen) = watched_config(&path)?;
    let source = Source::new(&path, seen);
    run_relay(loaded.config, source, listeners, |ready| {
        explain(ready, &providers, &folder);
        if args.traffic {
            print_line("\nIts own load, four requests a second over chat, code and cheap:");
            tokio::spawn(traffic::run(ready.data, traffic::urls(&providers), args.phase));
        }
    })
    .await
}

/// Two demos on two ports have two folders.
fn default_folder(port: u16) -> PathBuf {
    let name = if port == 8787 { "belay-demo".to_owned() } else { format!("belay-demo-{port}") };
    std::env::temp_dir().join(name)
}

async fn simulate(name: &'static str, ttft: &str, gap: &str) -> Result<Simulated, Failed> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["mock", "--name", name, "--ttft", ttft, "--gap", gap, "--exit-with-parent"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let failed = || Failed(format!("belay: the simulated provider '{name}' did not start."));
    let out = child.stdout.take().ok_or_else(failed)?;
    let line = BufReader::new(out).lines().next_line().await?.ok_or_else(failed)?;
    let url = line.strip_prefix("listening on ").ok_or_else(failed)?.to_owned();
    let pid = child.id().ok_or_else(failed)?;
    Ok(Simulated { name, url, pid, _child: child })
}

fn config_text(args: &DemoArgs, providers: &[Simulated]) -> Result<String, std::fmt::Error> {
    let mut text = format!(
        "# Written by `belay demo`; a config to start from.\n\
         [server]\nlisten = \"{}\"\n\n[admin]\nlisten = \"{}\"\n\n\
         [journal]\npath = \"belay.db\"\n",
        args.listen, args.admin
    );
    for (provider, (.., input, output)) in providers.iter().zip(PROVIDERS) {
        let (name, url) = (provider.name, &provider.url);
        write!(
            text,
            "\n[providers.{name}]\ndialect = \"openai-chat\"\nbase_url = \"{url}/v1\"\n\
             \n[rungs.{name}]\nprovider = \"{name}\"\nmodel = \"{name}-1\"\n\
             price = {{ input = {input:?}, output = {output:?} }}\n"
        )?;
    }
    text.push_str(
        "\n[ladders.chat]\nrungs = [\"alpha\", \"bravo\", \"local\"]\naliases = [\"gpt-4o\"]\n\
         clocks = { ttft = \"3s\", inter_token = \"5s\", total = \"60s\" }\n",
    );
    if args.traffic {
        text.push_str(traffic::LADDERS);
    }
    Ok(text)
}

fn explain(ready: &Ready, providers: &[Simulated], folder: &std::path::Path) {
    let Ready { data, admin } = ready;
    print_line(format_args!("belay: serving on http://{data}"));
    print_line(format_args!("belay: admin on http://{admin}"));
    print_line("\nThe ladder 'chat' stands on three simulated providers:");
    for Simulated { name, url, pid, .. } in providers {
        print_line(format_args!("  {name:<6} {url}  (process {pid})"));
    }
    print_line("\nAsk it something:");
    print_line(format_args!(
        "  curl -N http://{data}/v1/chat/completions -H 'Content-Type: application/json' \
         -d '{{\"model\":\"chat\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":\"Why climb?\"}}]}}'"
    ));
    if let Some(Simulated { name, url, pid, .. }) = providers.first() {
        print_line(format_args!(
            "\nMake {name} hang and ask again (a hedge to the next rung answers after 2 s):"
        ));
        print_line(format_args!(
            "  curl -X PUT {url}/mock/fault -H 'Content-Type: application/json' -d '{{\"fault\":\"hang\"}}'"
        ));
        print_line(format_args!("Kill it while it is silent:\n  kill {pid}"));
    }
    print_line(format_args!("\nNumbers for Prometheus:\n  curl http://{admin}/metrics"));
    let journal = folder.join("belay.db");
    print_line("\nSee what was tried:");
    print_line(format_args!("  curl http://{admin}/admin/v1/requests?limit=5"));
    print_line(format_args!("  belay journal requests --journal {}", journal.display()));
    print_line("\nThe console, a window on this relay:");
    print_line("  cargo run --release -p console");
    print_line("\nCtrl+C ends the demo.");
}
