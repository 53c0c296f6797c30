//! An example config, and every key there is.

use super::{Fake, parse, read};
use crate::config::*;
use dialect::errors::{Field, Matcher};
use policy::ladder::DEFAULT_TTFT;
use policy::{
    BreakerSpec, Capabilities, Capability, LadderSpec, OnEmpty, OnRefusal, RungIndex, RungSpec,
};
use shared::{Price, Signature};
use std::time::Duration;

/// As an operator would write it.
const EXAMPLE: &str = r#"[server]
listen = "127.0.0.1:8787"
[admin]
listen = "127.0.0.1:8788"
[journal]
path = "belay.db"
[clients.web]
key_sha256 = "…"                          # belay hash-key; no client configured: loopback only
[providers.openai]
dialect = "openai-chat"
base_url = "https://api.openai.com/v1"
api_key = { env = "OPENAI_API_KEY" }      # or { file = "…" }
[rungs.sol]
provider = "openai"
model = "sol-5.6"
domains = ["openai", "us-east"]
price = { input = 2.5, cached_input = 0.25, output = 10.0 }   # USD per million tokens
supports = ["tools", "parallel_tools", "json_schema", "images"]
context = 400000
breaker = { open_consecutive = 5 }
[ladders.chat]
rungs = ["sol", "opus", "local"]
aliases = ["gpt-4o"]
clocks = { ttft = "15s", inter_token = "15s", total = "90s" }
hedge = { enabled = true, delay = "auto", budget = 0.10 }
"#;

const REST: &str = r#"
[providers.here]
dialect = "openai-chat"
base_url = "http://127.0.0.1:8000/v1/"
[rungs.opus]
provider = "here"
model = "opus"
price = { input = 0, output = 0 }
[rungs.local]
provider = "here"
model = "local"
region = "attic"
"#;

fn env() -> Fake {
    Fake { vars: [("OPENAI_API_KEY", "sk-openai")].into(), ..Fake::default() }
}

#[test]
fn as_printed_it_lacks_a_hash_and_two_rungs() {
    let refused = parse(EXAMPLE, &env()).expect_err("incomplete");
    let found: Vec<_> = refused.problems.iter().map(|it| (it.line, &*it.key)).collect();
    let expected = [
        (8, "clients.web.key_sha256"),
        (22, "ladders.chat.rungs[1]"),
        (22, "ladders.chat.rungs[2]"),
    ];
    assert_eq!(found, expected);
}

fn completed() -> Loaded {
    let text = EXAMPLE.replace("\"…\"  ", &format!("\"{}\"", "0a".repeat(32))) + REST;
    parse(&text, &env()).unwrap()
}

#[test]
fn completed_it_warns_of_the_missing_price_and_context() {
    let found: Vec<_> = completed().warnings.into_iter().map(|it| (it.line, it.key)).collect();
    let expected = [(22, "ladders.chat.rungs".to_owned()), (34, "rungs.local.price".to_owned())];
    assert_eq!(found, expected);
}

#[test]
fn completed_it_means_exactly_this() {
    let config = completed().config;
    assert_eq!(config.server, Server::default());
    assert_eq!(config.admin, Admin::default());
    assert_eq!(config.journal, JournalConfig::default());
    let web =
        ClientConfig { name: "web".to_owned(), keys: vec![[0x0a; 32]], ladders: None, stamp: None };
    assert_eq!(config.clients, [web]);
    let here = ProviderConfig {
        name: "here".to_owned(),
        dialect: shared::Dialect::OpenaiChat,
        base_url: "http://127.0.0.1:8000/v1".to_owned(),
        api_key: None,
        headers: Vec::new(),
        http2: false,
        max_connections: None,
        connect: Duration::from_secs(5),
        ca_file: None,
        matchers: Vec::new(),
    };
    let openai = ProviderConfig {
        name: "openai".to_owned(),
        base_url: "https://api.openai.com/v1".to_owned(),
        api_key: Some(Secret::new("sk-openai")),
        ..here.clone()
    };
    assert_eq!(config.providers, [openai, here]);
    assert_eq!(config.rungs, rungs());
    let chat = LadderConfig {
        name: "chat".to_owned(),
        aliases: vec!["gpt-4o".to_owned()],
        spec: LadderSpec {
            rungs: vec![RungIndex(0), RungIndex(1), RungIndex(2)],
            ttft: Some(Duration::from_secs(15)),
            ..LadderSpec::default()
        },
        one_model: false,
        validate: false,
        prompts: Vec::new(),
        prompt: None,
        capture: None,
    };
    assert_eq!(config.ladders, [chat]);
    assert_eq!(config.ladder("gpt-4o"), Some(0));
    assert_eq!(config.ladder("chat"), Some(0));
    assert_eq!(config.ladder("sol"), None);
}

fn rungs() -> [RungConfig; 3] {
    let local = RungConfig {
        name: "local".to_owned(),
        provider: 1,
        model: "local".to_owned(),
        domains: vec!["here".to_owned(), "attic".to_owned()],
        region: Some("attic".to_owned()),
        price: None,
        stream_options: true,
        spec: RungSpec::default(),
    };
    let opus = RungConfig {
        name: "opus".to_owned(),
        model: "opus".to_owned(),
        domains: vec!["here".to_owned()],
        region: None,
        price: Some(Price::default()),
        spec: RungSpec { free: true, ..RungSpec::default() },
        ..local.clone()
    };
    let sol = RungConfig {
        name: "sol".to_owned(),
        provider: 0,
        model: "sol-5.6".to_owned(),
        domains: vec!["openai".to_owned(), "us-east".to_owned()],
        price: Some(Price {
            input: 2_500_000_000,
            cached_input: Some(250_000_000),
            cache_write: None,
            output: 10_000_000_000,
        }),
        spec: RungSpec {
            can: Capabilities { audio: false, files: false, ..Capabilities::ALL },
            context: Some(400_000),
            ..RungSpec::default()
        },
        ..opus.clone()
    };
    [sol, opus, local]
}

#[test]
fn every_other_key_means_something() {
    let text = FULL.replace("#1#", &"1".repeat(64)).replace("#2#", &"2".repeat(64));
    let loaded = read(&text).unwrap();
    assert_eq!(loaded.warnings, []);
    let Config { server, admin, journal, clients, providers, rungs, ladders } = loaded.config;
    let secs = Duration::from_secs;
    assert_eq!(
        server,
        Server {
            listen: "[::]:80".parse().unwrap(),
            early_headers: secs(1),
            heartbeat: secs(2),
            stamp: Some(Stamp::None),
            max_body: 2048,
            max_in_flight_bytes: 3 << 30,
            max_event: 3_000_000,
            max_requests: 4,
            client_write_timeout: secs(5),
            drain: Duration::ZERO,
            cors_origins: vec!["https://chat.example".to_owned()],
            ignore_fields: ["x_trace".to_owned()].into(),
        }
    );
    assert_eq!((admin.name.as_deref(), admin.env.as_deref()), (Some("eu-1"), Some("prod")));
    assert!(admin.protected);
    let token = Token { name: "ann".to_owned(), role: Role::Operator, sha256: [0x11; 32] };
    assert_eq!(admin.tokens, [token]);
    assert_eq!((journal.retain, journal.max_size), (secs(3600), 5 << 20));
    assert_eq!(clients[0].keys, [[0x11; 32], [0x22; 32]]);
    assert_eq!(clients[0].ladders, Some(vec![1]));
    assert_eq!(clients[0].stamp, Some(Stamp::Full));
    let provider = &providers[0];
    assert_eq!(
        (provider.http2, provider.max_connections, provider.connect),
        (true, Some(7), secs(3))
    );
    let matcher = Matcher {
        status: Some(403),
        field: Field::Message,
        contains: "no money".to_owned(),
        signature: Signature::Auth,
    };
    assert_eq!(provider.matchers, [matcher]);
    let rung = &rungs[0];
    assert!(!rung.stream_options);
    let meant = RungSpec {
        can: Capabilities::only(&[Capability::Audio, Capability::Files]),
        max_output: Some(9),
        ttft: Some(secs(8)),
        inter_token: Some(secs(9)),
        pings_count: true,
        // Its answers cost something.
        on_empty: OnEmpty::End,
        on_refusal: OnRefusal::Next,
        hold_base: secs(1),
        max_hold: secs(60),
        ..RungSpec::default()
    };
    assert_eq!(rung.spec, meant);
    assert_eq!(rung.price.unwrap().cache_write, Some(3_750_000_000));
    // In file order, not in that of the alphabet.
    let names: Vec<_> = ladders.iter().map(|ladder| &*ladder.name).collect();
    assert_eq!(names, ["z", "a"]);
    let ladder = &ladders[1];
    let meant = LadderSpec {
        rungs: vec![RungIndex(1), RungIndex(0)],
        interactive: false,
        require: Capabilities::only(&[Capability::Audio]),
        retries: Some(0),
        fail_fast: true,
        max_attempts: Some(3),
        patience: Some(secs(0)),
        side_effects_none: true,
        ..LadderSpec::default()
    };
    assert_eq!(ladder.spec, meant);
}

const FULL: &str = r##"
server = { listen = "[::]:80", early_headers = "1s", heartbeat = "2s", stamp = false,
  max_body = 2048, max_in_flight_bytes = "3GiB", max_event = "3 MB", max_requests = 4, client_write_timeout = "5s",
  drain = "0s", cors_origins = ["https://Chat.example"],
  ignore_fields = ["x_trace"] }
[admin]
name = "eu-1"
env = "prod"
protected = true
tokens = [{ name = "ann", role = "operator", sha256 = "#1#" }]
[journal]
retain = "1h"
max_size = "5MiB"
[clients.web]
key_sha256 = ["#1#", "#2#"]
ladders = ["a"]
stamp = "full"
[providers.p]
dialect = "openai-chat"
base_url = "https://p.example"
http2 = true
max_connections = 7
connect = "3s"
ca_file = "root.pem"
matchers = [{ status = 403, field = "message", contains = "no money", signature = "auth" }]
[providers.q]
dialect = "openai-chat"
base_url = "https://q.example"
[rungs.one]
provider = "p"
model = "m"
supports = ["audio", "files"]
max_output = 9
ttft = "8s"
inter_token = "9s"
pings_count = true
on_empty = "by_price"
on_refusal = "next"
stream_options = false
hold_base = "1s"
max_hold = "1m"
price = { input = 3, cached_input = 0.3, cache_write = 3.75, output = 15 }
[rungs.two]
provider = "q"
model = "m"
price = { input = 3, output = 15 }
[ladders.z]
rungs = ["one", "two"]
[ladders.a]
rungs = ["two", "one"]
interactive = false
require = ["audio"]
retries = 0
fail_fast = true
max_attempts = 3
patience = "0s"
side_effects = "none"
"##;

#[test]
fn the_defaults_are_as_the_manual_has_them() {
    let server = Server::default();
    let secs = Duration::from_secs;
    assert_eq!(server.listen.to_string(), "127.0.0.1:8787");
    assert_eq!((server.early_headers, server.heartbeat), (secs(20), secs(10)));
    assert_eq!((server.max_body, server.max_event), (32 * 1024 * 1024, 8 * 1024 * 1024));
    assert_eq!((server.client_write_timeout, server.drain), (secs(30), secs(30)));
    assert_eq!((server.max_requests, server.stamp), (10_000, None));
    assert_eq!(Admin::default().listen.to_string(), "127.0.0.1:8788");
    let journal = JournalConfig::default();
    assert_eq!((journal.retain, journal.max_size), (secs(2_592_000), 4_294_967_296));
    assert_eq!(DEFAULT_TTFT, secs(15));
    let ladder = LadderSpec::default();
    assert_eq!((ladder.inter_token, ladder.total), (secs(15), secs(90)));
    assert_eq!((ladder.stream_total, ladder.early_headers), (secs(900), server.early_headers));
    let hedge = ladder.hedge;
    assert_eq!((hedge.min, hedge.max, hedge.initial), (secs(1) / 4, secs(4), secs(2)));
    let budgets = (hedge.share, hedge.burst, ladder.retry.share, ladder.retry.burst);
    assert_eq!(budgets, (0.10, 20.0, 0.20, 20.0));
    let breaker = BreakerSpec::default();
    assert_eq!(
        (breaker.open_consecutive, breaker.min_samples, breaker.close_successes),
        (5, 10, 2)
    );
    assert_eq!((breaker.open_rate, breaker.jitter), (0.5, 0.3));
    assert_eq!(
        (breaker.window, breaker.cooldown, breaker.max_cooldown),
        (secs(30), secs(5), secs(10))
    );
}
