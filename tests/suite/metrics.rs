//! `GET /metrics`: what a request leaves behind on the page, and nothing else.
//!
//! The tests compare all that was counted, not what they expect to find: a
//! number that is counted twice, or for the wrong rung, shows.

mod access;
mod counting;
mod standing;

use tests::{Page, Relay, Reply};

const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";
const PRICE: &str = "price = { input = 2.5, output = 10.0 }";

fn failing() -> Reply {
    Reply::error(500, "no", "server_error", &serde_json::Value::Null)
}

/// What the relay has counted since `earlier`, without the metric prefix that all share.
async fn counted(relay: &Relay, earlier: &Page) -> Vec<String> {
    let counted = relay.metrics().await.since(earlier);
    counted.iter().map(|line| line.trim_start_matches("belay_").to_owned()).collect()
}

/// What one attempt with a good answer leaves behind; `kind` and `n` as on the page.
fn good_attempt(rung: &str, kind: &str, n: &str) -> Vec<String> {
    vec![
        format!(
            r#"attempt_time_to_first_token_seconds_count{{ladder="chat",rung="{rung}",attempt="{n}"}} +1"#
        ),
        format!(r#"attempts_total{{rung="{rung}",kind="{kind}",outcome="ok",cause=""}} +1"#),
        format!(r#"first_token_verdicts_total{{rung="{rung}",verdict="good"}} +1"#),
        format!(r#"stream_verdicts_total{{rung="{rung}",verdict="good"}} +1"#),
        format!(r#"tokens_total{{rung="{rung}",gen_ai_token_type="input"}} +11"#),
        format!(r#"tokens_total{{rung="{rung}",gen_ai_token_type="output"}} +3"#),
    ]
}

/// What a stream that its client got whole leaves behind.
fn good_request() -> Vec<String> {
    [
        r#"request_duration_seconds_count{ladder="chat",outcome="ok"} +1"#,
        r#"request_time_to_first_token_seconds_count{ladder="chat"} +1"#,
        r#"requests_total{ladder="chat",outcome="ok",status="2xx"} +1"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

/// These lines, and those, in the page's order.
fn all(parts: &[Vec<String>], more: &[&str]) -> Vec<String> {
    let more = more.iter().map(|line| (*line).to_owned());
    let mut lines: Vec<String> = parts.iter().flatten().cloned().chain(more).collect();
    lines.sort();
    lines
}
