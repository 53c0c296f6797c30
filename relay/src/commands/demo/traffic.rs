//! The demo's own load and incidents, over and over, so that there is something to see.
//!
//! The load goes through the relay's own front door, and the incidents are faults of
//! the simulated providers: nothing of what is seen is made up.

use crate::commands::common::{print_error, print_line};
use crate::wall;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

/// One simulated provider's process.
pub(super) struct Simulated {
    pub(super) name: &'static str,
    pub(super) url: String,
    pub(super) pid: u32,
    /// Killed when dropped.
    pub(super) _child: Child,
}

/// A request follows the last one after this, give or take a half.
const PACE: Duration = Duration::from_millis(250);
/// What is still running then is enough load.
const MOST: usize = 64;

/// The ladders that the load is spread over, beside `chat`; more of it goes to the first ones.
pub(super) const LADDERS: &str = "
[ladders.code]
rungs = [\"bravo\", \"alpha\", \"local\"]
clocks = { ttft = \"3s\", inter_token = \"5s\", total = \"60s\" }

[ladders.cheap]
rungs = [\"local\", \"alpha\"]
clocks = { ttft = \"3s\", inter_token = \"5s\", total = \"60s\" }
";
const SHARES: [&str; 8] = ["chat", "chat", "chat", "chat", "code", "code", "cheap", "cheap"];

const QUESTIONS: [&str; 4] =
    ["Why climb?", "Name three knots.", "What is a belay?", "How high is the wall?"];

/// What happens for a while.
struct Phase {
    /// Whose fault, and which.
    fault: Option<(&'static str, &'static str)>,
    /// What to look at.
    line: &'static str,
}

const CALM: Phase = Phase {
    fault: None,
    line: "calm: every provider is well. Watch breakers close and weights come back to 1.",
};

/// Over and over.
const PHASES: [Phase; 8] = [
    CALM,
    Phase {
        fault: Some(("alpha", r#"{"fault":"hang"}"#)),
        line: "black hole: alpha takes requests and never answers. Hedges rescue the first ones, \
               then its breaker opens and chat answers from bravo.",
    },
    CALM,
    Phase {
        fault: Some(("bravo", r#"{"fault":"status","status":429,"retry_after":"3"}"#)),
        line: "429 storm: bravo asks for pauses of 3 s. It is held, not broken: code answers from \
               alpha at once, and no breaker opens.",
    },
    CALM,
    Phase {
        fault: Some(("alpha", r#"{"fault":"slow_first_token","ms":2500}"#)),
        line: "slow rung: alpha needs 2.5 s for a first token. Hedges win, the hedge budget of \
               chat runs down, and its breaker opens for slowness.",
    },
    CALM,
    Phase {
        fault: Some(("local", r#"{"fault":"status","status":503}"#)),
        line: "dear fall-back: local, which is free, is overloaded. cheap answers from alpha, and \
               what cheap costs is no longer nothing.",
    },
];

/// Makes load and incidents until the demo is told to stop.
pub(super) async fn run(data: SocketAddr, urls: Vec<(&'static str, String)>, phase: Duration) {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut int), Ok(mut term)) = signals else { return };
    // Whatever proxy the environment names is for others than this machine.
    let client = match reqwest::Client::builder().no_proxy().build() {
        Ok(client) => client,
        Err(error) => return print_error(format_args!("belay: no load: {error}.")),
    };
    // Dropped at the end: what still runs is let go of, and the relay need not wait for it.
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
        () = load(&client, data) => {}
        () = incidents(&client, &urls, phase) => {}
    }
}

/// The providers by their names.
pub(super) fn urls(providers: &[Simulated]) -> Vec<(&'static str, String)> {
    providers.iter().map(|provider| (provider.name, provider.url.clone())).collect()
}

async fn load(client: &reqwest::Client, data: SocketAddr) {
    let mut rng = wall::rng();
    let mut running = JoinSet::new();
    loop {
        tokio::time::sleep(PACE.mul_f64(0.5 + rng.f64())).await;
        while running.try_join_next().is_some() {}
        if running.len() >= MOST {
            continue;
        }
        let (Some(ladder), Some(question)) = (rng.choice(SHARES), rng.choice(QUESTIONS)) else {
            continue;
        };
        let body = serde_json::json!({
            "model": ladder,
            "stream": true,
            "messages": [{ "role": "user", "content": question }],
        });
        let call = client
            .post(format!("http://{data}/v1/chat/completions"))
            .header("content-type", "application/json")
            .body(body.to_string());
        running.spawn(async move {
            // How it went is the relay's to tell.
            if let Ok(answer) = call.send().await {
                let _read_to_the_end = answer.bytes().await;
            }
        });
    }
}

async fn incidents(client: &reqwest::Client, urls: &[(&'static str, String)], span: Duration) {
    let minutes = |span: Duration| format!("{:02}:{:02}", span.as_secs() / 60, span.as_secs() % 60);
    let begun = wall::now();
    loop {
        for phase in &PHASES {
            for (name, _) in urls {
                let fault = phase.fault.filter(|(whose, _)| whose == name);
                set_fault(client, urls, name, fault.map(|(_, fault)| fault)).await;
            }
            print_line(format_args!("[{}] {}", minutes(wall::now().since(begun)), phase.line));
            tokio::time::sleep(span).await;
        }
    }
}

async fn set_fault(
    client: &reqwest::Client,
    urls: &[(&'static str, String)],
    name: &str,
    fault: Option<&'static str>,
) {
    let Some((_, url)) = urls.iter().find(|(other, _)| *other == name) else { return };
    let url = format!("{url}/mock/fault");
    let call = match fault {
        Some(fault) => client.put(url).header("content-type", "application/json").body(fault),
        None => client.delete(url),
    };
    // It may have been killed, as the demo proposes.
    let done = call.send().await.and_then(reqwest::Response::error_for_status);
    if fault.is_some() && done.is_err() {
        print_error(format_args!("belay: {name} does not answer; its incident is left out."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::demo::PROVIDERS;
    use mock::FaultSpec;

    #[test]
    fn every_incident_is_a_fault_of_a_provider_there_is() {
        for phase in &PHASES {
            let Some((whose, fault)) = phase.fault else { continue };
            assert!(PROVIDERS.iter().any(|(name, ..)| *name == whose), "{whose}");
            FaultSpec::from_json(serde_json::from_str(fault).unwrap()).unwrap();
            assert!(phase.line.contains(whose), "{}", phase.line);
        }
    }
}
