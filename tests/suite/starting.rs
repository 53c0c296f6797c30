//! The first steps: a config to start from, and a demo that makes its own load.

use std::process::{Output, Stdio};
use tempfile::TempDir;
use tests::client::{Exchange, request};
use tests::clock::{eventually, within};
use tests::relay::program;
use tokio::io::{AsyncBufReadExt as _, BufReader};

const KEY: &str = "UPSTREAM-KEY-PLACEHOLDER-init";

/// Runs the relay's program with these variables set, and none of the usual ones beside.
async fn run(arguments: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = tokio::process::Command::new(program());
    command.env_clear().envs(env.iter().copied()).args(arguments).kill_on_drop(true);
    within("a command to end", command.stdin(Stdio::null()).output()).await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn init_writes_what_check_passes_and_no_key() {
    for env in [
        vec![],
        vec![("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY), ("MISTRAL_API_KEY", KEY)],
    ] {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("belay.toml");
        let file = path.to_str().unwrap();
        let printed = run(&["init"], &env).await;
        assert!(printed.status.success(), "{}", text(&printed.stderr));
        let written = run(&["init", "--out", file], &env).await;
        assert!(written.status.success(), "{}", text(&written.stderr));
        let config = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text(&printed.stdout).trim_end(), config.trim_end());
        assert!(!config.contains(KEY), "{config}");
        assert_eq!(config.contains("\n[providers.openai]"), !env.is_empty(), "{config}");
        let checked = run(&["check", "--config", file], &env).await;
        assert!(checked.status.success(), "{}", text(&checked.stderr));
        // What is there is somebody's work.
        std::fs::write(&path, "mine").unwrap();
        let again = run(&["init", "--out", file], &env).await;
        assert!(!again.status.success());
        assert!(text(&again.stderr).contains("--force"), "{}", text(&again.stderr));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert!(run(&["init", "--out", file, "--force"], &env).await.status.success());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), config);
    }
}

#[tokio::test]
async fn the_demo_makes_load_and_incidents_and_stops_when_told() {
    let folder = TempDir::new().unwrap();
    let mut demo = tokio::process::Command::new(program())
        .args(["demo", "--traffic", "--phase", "1s", "--listen", "127.0.0.1:0"])
        .args(["--admin", "127.0.0.1:0", "--folder", folder.path().to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut admin = None;
    for word in ["belay: admin on ", "] calm", "] black hole", "] calm", "] 429 storm"] {
        let line = within(word, async {
            loop {
                let line = lines.next_line().await.unwrap().expect("it goes on");
                if line.contains(word) {
                    return line;
                }
            }
        })
        .await;
        admin = admin.or_else(|| Some(line.strip_prefix("belay: admin on http://")?.to_owned()));
    }
    let admin = admin.unwrap().parse().unwrap();
    let page = async || {
        let asked = request(admin, "GET", "/metrics", &[], None);
        Exchange::start(admin, &asked).await.finish().await.body_text().to_owned()
    };
    // Each of its ladders is asked, and both incidents are seen for what they are.
    for series in [
        "belay_requests_total{ladder=\"chat\",outcome=\"ok\",status=\"2xx\"} ",
        "belay_requests_total{ladder=\"code\",outcome=\"ok\",status=\"2xx\"} ",
        "belay_requests_total{ladder=\"cheap\",outcome=\"ok\",status=\"2xx\"} ",
        "belay_hedges_started_total{ladder=\"chat\"} ",
        "belay_holds_asked_total{rung=\"bravo\"} ",
    ] {
        eventually(series, async || {
            let page = page().await;
            let value =
                page.lines().find_map(|line| line.strip_prefix(series)?.parse::<u64>().ok());
            value.filter(|&count| count > 0)
        })
        .await;
    }
    let pid = demo.id().unwrap().to_string();
    let told = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(told.success());
    let ended = within("its end", demo.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
}
