//! Every mistake is one error, at the right place, with a cure.

use super::{Severity, assert_only, depart, read};

/// What is replaced in the base, by what (`¶` marks the place of the error),
/// the error's key, and part of what it says.
type Case = (&'static str, &'static str, &'static str, &'static str);

fn check(cases: &[Case]) {
    for (old, new, key, text) in cases {
        let (config, place) = depart(old, new);
        let refused = read(&config).expect_err(new);
        assert_only(&refused.problems, Severity::Error, place, (key, text), new);
    }
}

const LISTEN: &str = "listen = \"127.0.0.1:8787\"";
const ADMIN: &str = "listen = \"127.0.0.1:8788\"";
const KEY: &str =
    "key_sha256 = \"0000000000000000000000000000000000000000000000000000000000000001\"";
const URL: &str = "base_url = \"https://one.example/v1\"";
const API_KEY: &str = "api_key = { env = \"ONE_KEY\" }";
const MODEL: &str = "model = \"a-1\"";
const RUNGS: &str = "rungs = [\"a\", \"b\"]";
const ALIASES: &str = "aliases = [\"gpt\"]";

#[test]
fn of_the_file_as_a_whole() {
    check(&[
        ("[server]", "[server]\n!¶", "", "nothing else could be checked"),
        (LISTEN, "listen = \"127.0.0.1:1\"\n¶listen = \"127.0.0.1:1\"", "", "duplicate key"),
        ("[server]", "[¶serve]", "serve", "did you mean 'server'?"),
        ("[server]", "[¶zzzzzz]\n[server]", "zzzzzz", "known here: server, admin"),
        ("[server]", "[¶\"a b\\u0007\"]\n[server]", "\"a b\\u{7}\"", "no key that belongs here"),
        ("\n[server]", "journal = ¶3\n[server]", "journal", "must be a table, not an integer"),
        ("[server]", "[clients]\nweb2 = ¶3\n[server]", "clients.web2", "must be a table"),
        (
            "[server]",
            "[clients.¶\"ö\"]\nkey_sha256=\"#2#\"\n[server]",
            "clients.\"ö\"",
            "be a name",
        ),
    ]);
    let refused = read("").expect_err("empty");
    assert_only(&refused.problems, Severity::Error, (1, 1), ("ladders", "no ladder"), "empty");
}

#[test]
fn of_server() {
    check(&[
        (LISTEN, "listen = ¶8787", "server.listen", "must be a string, not an integer"),
        (LISTEN, "listen = ¶\"localhost:8787\"", "server.listen", "IP address and a port"),
        (LISTEN, "¶liste = \"127.0.0.1:8787\"", "server.liste", "did you mean 'listen'?"),
        (LISTEN, "early_headers = ¶20", "server.early_headers", "write a unit, such as \"15s\""),
        (LISTEN, "early_headers = ¶2.5", "server.early_headers", "write a unit"),
        (LISTEN, "early_headers = ¶true", "server.early_headers", "a duration, not a boolean"),
        (LISTEN, "heartbeat = ¶\"0s\"", "server.heartbeat", "no time at all"),
        (LISTEN, "heartbeat = ¶\"ten\"", "server.heartbeat", "'ten' is no duration"),
        (LISTEN, "heartbeat = ¶\"15 parsecs\"", "server.heartbeat", "unknown time unit"),
        (LISTEN, "client_write_timeout = ¶\"\"", "server.client_write_timeout", "no duration"),
        (LISTEN, "drain = ¶\"90M\"", "server.drain", "too long"),
        (LISTEN, "stamp = ¶\"ful\"", "server.stamp", "mean 'full'?"),
        (LISTEN, "stamp = ¶1", "server.stamp", "\"full\", not an integer"),
        (LISTEN, "max_body = ¶\"8 megs\"", "server.max_body", "'8 megs' is no size"),
        (LISTEN, "max_body = ¶-1", "server.max_body", "'-1' is out of range"),
        (LISTEN, "max_body = ¶\"0B\"", "server.max_body", "1KiB to 1GiB"),
        (LISTEN, "max_in_flight_bytes = ¶\"0B\"", "server.max_in_flight_bytes", "1KiB to 1TiB"),
        (LISTEN, "max_event = ¶1.5", "server.max_event", "a size, not a float"),
        (LISTEN, "max_requests = ¶0", "server.max_requests", "from 1 to 1000000"),
        (LISTEN, "max_requests = ¶\"9\"", "server.max_requests", "an integer, not a string"),
        (LISTEN, "cors_origins = ¶\"*\"", "server.cors_origins", "a list, not a string"),
        (LISTEN, "cors_origins = [¶\"*\"]", "server.cors_origins[0]", "'*' is no origin"),
        (LISTEN, "cors_origins = [¶\"https://a.b/\"]", "server.cors_origins[0]", "no path"),
        (LISTEN, "ignore_fields = [¶\"a[0].b\"]", "server.ignore_fields[0]", "no field"),
    ]);
}

#[test]
fn of_admin_and_journal() {
    check(&[
        ("[admin]", "[¶admin]\nprotected = true", "admin.env", "asks for its env"),
        (ADMIN, "name = ¶\" \"", "admin.name", "is empty"),
        (ADMIN, "name = ¶\"a\\nb\"", "admin.name", "control character"),
        (ADMIN, "tokens = ¶3", "admin.tokens", "a list, not an integer"),
        (
            ADMIN,
            "tokens = [¶{ role = \"viewer\", sha256 = \"#2#\" }]",
            "admin.tokens[0].name",
            "'name' is missing",
        ),
        (
            ADMIN,
            "tokens = [{ name = \"ann\", role = ¶\"operatr\", sha256 = \"#2#\" }]",
            "admin.tokens[0].role",
            "did you mean 'operator'?",
        ),
        (
            ADMIN,
            "tokens = [{ name = \"ann\", role = \"viewer\", sha256 = ¶\"sesame\" }]",
            "admin.tokens[0].sha256",
            "64 hex digits",
        ),
        (
            ADMIN,
            "[[admin.tokens]]\nname = \"ann\"\nrole = \"viewer\"\nsha256 = \"#2#\"\n\
             [[admin.tokens]]\nname = ¶\"ann\"\nrole = \"viewer\"\nsha256 = \"#3#\"",
            "admin.tokens[1].name",
            "another token has this name",
        ),
        (
            ADMIN,
            "[[admin.tokens]]\nname = \"ann\"\nrole = \"viewer\"\nsha256 = \"#2#\"\n\
             [[admin.tokens]]\nname = \"bob\"\nrole = \"viewer\"\nsha256 = ¶\"#2#\"",
            "admin.tokens[1].sha256",
            "a token of their own",
        ),
        ("[admin]", "[journal]\nretain = ¶\"5s\"\n[admin]", "journal.retain", "too short"),
        ("[admin]", "[journal]\nmax_size = ¶\"1KiB\"\n[admin]", "journal.max_size", "1MiB to"),
        ("[admin]", "[journal]\npath = ¶7\n[admin]", "journal.path", "a string"),
    ]);
}

#[test]
fn of_exposure() {
    let open = "listen = \"0.0.0.0:8787\"\n[clients]";
    let departed = |listen: &str| {
        let text = super::BASE.replace(LISTEN, listen).replace("[clients.web]\n", "");
        text.replace(KEY, "")
    };
    let refused = read(&departed(open)).expect_err("open to all");
    let expected = ("server.listen", "without a client configured");
    assert_only(&refused.problems, Severity::Error, (3, 10), expected, "open to all");
    assert!(read(&departed(LISTEN)).is_ok(), "on loopback nobody need be named");
    assert!(read(&departed("listen = \"[::ffff:127.0.0.1]:1\"")).is_ok());
    check(&[
        (ADMIN, "listen = ¶\"[::]:8788\"", "admin.listen", "without a token"),
        (ADMIN, "listen = ¶\"127.0.0.1:8787\"", "admin.listen", "the address of server.listen"),
        (
            "listen = \"127.0.0.1:8787\"\n\n[admin]\nlisten = \"127.0.0.1:8788\"",
            "listen = ¶\"127.0.0.1:8788\"",
            "server.listen",
            "the address of admin.listen",
        ),
    ]);
}

#[test]
fn of_clients() {
    check(&[
        (KEY, "key_sha256 = ¶\"abc\"", "clients.web.key_sha256", "3 characters, not 64"),
        (KEY, "key_sha256 = ¶7", "clients.web.key_sha256", "a list, not an integer"),
        (KEY, "key_sha256 = ¶[]", "clients.web.key_sha256", "cannot call"),
        (KEY, "key_sha256 = [\"#2#\", ¶\"#2#\"]", "clients.web.key_sha256[1]", "twice"),
        ("[clients.web]", "[clients.¶x]\n[clients.web]", "clients.x.key_sha256", "is missing"),
        (
            KEY,
            "key_sha256 = \"#2#\"\n[clients.x]\nkey_sha256 = [\"#3#\", ¶\"#2#\"]",
            "clients.x.key_sha256[1]",
            "belongs to the client 'web'",
        ),
        (KEY, "key_sha256=\"#2#\"\nladders=[¶\"chta\"]", "clients.web.ladders[0]", "mean 'chat'?"),
        (KEY, "key_sha256=\"#2#\"\nladders=[¶\"gpt\"]", "clients.web.ladders[0]", "name, 'chat'"),
        (KEY, "key_sha256=\"#2#\"\nstamp=¶\"all\"", "clients.web.stamp", "no word"),
        (KEY, "key_sha256=\"#2#\"\nladders=¶[]", "clients.web.ladders", "without a ladder"),
    ]);
}

#[test]
fn of_providers() {
    check(&[
        (
            "dialect = \"openai-chat\"\nbase_url = \"https://one.example/v1\"",
            "dialect = ¶\"openai-caht\"\nbase_url = \"https://one.example/v1\"",
            "providers.one.dialect",
            "did you mean 'openai-chat'?",
        ),
        (URL, "base_url = ¶\"one.example\"", "providers.one.base_url", "is no URL"),
        (URL, "base_url = ¶\"ftp://one.example\"", "providers.one.base_url", "https:// or http://"),
        (URL, "base_url = ¶\"https://a/?key=x\"", "providers.one.base_url", "has a query"),
        (URL, "base_url = ¶\"https://a/#x\"", "providers.one.base_url", "has a fragment"),
        (URL, "base_url = ¶\"https://u:p@a/\"", "providers.one.base_url", "has user-info"),
        (URL, "base_url = ¶\"https://a/v1/chat/completions\"", "providers.one.base_url", "adds it"),
        (API_KEY, "api_key = ¶\"sk-1\"", "providers.one.api_key", "{ env = \"NAME\" }"),
        (API_KEY, "api_key = ¶7", "providers.one.api_key", "a table, not an integer"),
        (API_KEY, "¶api_key = {}", "providers.one.api_key", "neither 'env' nor 'file'"),
        (
            API_KEY,
            "api_key = {env=¶\"NO_KEY\"}",
            "providers.one.api_key.env",
            "'NO_KEY' is not set",
        ),
        (API_KEY, "api_key = {env=¶\"EMPTY_KEY\"}", "providers.one.api_key.env", "is empty"),
        (API_KEY, "api_key = {env=¶\"TWO_LINES\"}", "providers.one.api_key.env", "besides a key"),
        (API_KEY, "api_key = {file=¶\"no.key\"}", "providers.one.api_key.file", "cannot be read"),
        (API_KEY, "api_key = {file=¶\"empty.key\"}", "providers.one.api_key.file", "is empty"),
        (
            API_KEY,
            "api_key = { env = \"ONE_KEY\", file = ¶\"two.key\" }",
            "providers.one.api_key.file",
            "both 'env' and 'file'",
        ),
        (
            API_KEY,
            "api_key = { env = \"ONE_KEY\", ¶path = \"x\" }",
            "providers.one.api_key.path",
            "no key that belongs here",
        ),
        (API_KEY, "headers = { ¶Host = \"x\" }", "providers.one.headers.Host", "itself"),
        (API_KEY, "headers = { ¶\"a b\" = \"x\" }", "providers.one.headers.\"a b\"", "no header"),
        (API_KEY, "headers = { x-a = ¶\"ö\" }", "providers.one.headers.x-a", "cannot carry"),
        (API_KEY, "headers = { x-a = ¶7 }", "providers.one.headers.x-a", "a string"),
        (API_KEY, "headers={x-a=\"1\",¶X-A=\"2\"}", "providers.one.headers.X-A", "twice"),
        (API_KEY, "headers={api-key=¶\"k\"}", "providers.one.headers.api-key", "config file"),
        (
            API_KEY,
            "api_key={env=\"ONE_KEY\"}\nheaders={¶authorization={env=\"ONE_KEY\"}}",
            "providers.one.headers.authorization",
            "api_key writes this header",
        ),
        (API_KEY, "http2 = ¶1", "providers.one.http2", "true or false"),
        (API_KEY, "max_connections = ¶0", "providers.one.max_connections", "from 1 to"),
        (API_KEY, "connect = ¶5", "providers.one.connect", "write a unit"),
        (API_KEY, "ca_file = ¶\"no.pem\"", "providers.one.ca_file", "cannot be read"),
    ]);
}

#[test]
fn of_matchers() {
    const ALL: &str = "field = \"code\", contains = \"x\", signature = \"auth\"";
    for (table, key, text) in [
        ("{ status = ¶99, ALL }", "[0].status", "from 100 to 599"),
        ("¶{ contains = \"x\", signature = \"auth\" }", "[0].field", "'field' is missing"),
        ("{ field = ¶\"msg\", contains = \"x\", signature = \"auth\" }", "[0].field", "known here"),
        (
            "{ field = \"code\", contains = ¶\"\", signature = \"auth\" }",
            "[0].contains",
            "is empty",
        ),
        (
            "{ field = \"code\", contains = \"x\", signature = ¶\"auht\" }",
            "[0].signature",
            "'auth'?",
        ),
        ("{ ALL }, { ALL, ¶statu = 1 }", "[1].statu", "did you mean 'status'?"),
        ("¶7", "[0]", "a table, not an integer"),
    ] {
        let new = format!("matchers = [{}]", table.replace("ALL", ALL));
        let (config, place) = depart(API_KEY, &new);
        let refused = read(&config).expect_err(&new);
        let key = format!("providers.one.matchers{key}");
        assert_only(&refused.problems, Severity::Error, place, (&key, text), &new);
    }
}

#[test]
fn of_rungs() {
    check(&[
        ("provider = \"one\"", "provider = ¶\"onw\"", "rungs.a.provider", "did you mean 'one'?"),
        ("[rungs.a]\nprovider = \"one\"", "[rungs.¶a]", "rungs.a.provider", "is missing"),
        (MODEL, "model = ¶\"\"", "rungs.a.model", "is empty"),
        (MODEL, "model = \"a\"\ndegrade = [¶\"tools\"]", "rungs.a.degrade[0]", "no word"),
        (MODEL, "model = \"a\"\ndegrade = ¶true", "rungs.a.degrade", "must be a list"),
        (MODEL, "model = \"a\"\n¶modell = 1", "rungs.a.modell", "did you mean 'model'?"),
        (MODEL, "model = \"a\"\ndomains = ¶[]", "rungs.a.domains", "in some domain"),
        (MODEL, "model = \"a\"\ndomains = [\"x\", ¶\"x\"]", "rungs.a.domains[1]", "twice"),
        (MODEL, "model = \"a\"\nregion = ¶1", "rungs.a.region", "a string"),
        (MODEL, "model = \"a\"\nsupports = [¶\"tool\"]", "rungs.a.supports[0]", "mean 'tools'?"),
        ("context = 1000", "context = ¶0", "rungs.a.context", "out of range"),
        (MODEL, "model = \"a\"\nmax_output = ¶1.0", "rungs.a.max_output", "not a float"),
        (MODEL, "model = \"a\"\nttft = ¶15", "rungs.a.ttft", "write a unit"),
        (MODEL, "model = \"a\"\ninter_token = ¶\"0s\"", "rungs.a.inter_token", "no time"),
        (MODEL, "model = \"a\"\npings_count = ¶1", "rungs.a.pings_count", "true or false"),
        (MODEL, "model = \"a\"\non_empty = ¶\"nxt\"", "rungs.a.on_empty", "mean 'next'?"),
        (MODEL, "model = \"a\"\non_refusal = ¶\"x\"", "rungs.a.on_refusal", "end, next"),
        (MODEL, "model = \"a\"\nhold_base = ¶2", "rungs.a.hold_base", "write a unit"),
        (MODEL, "model = \"a\"\nmax_hold = ¶\"2 days\"", "rungs.a.max_hold", "too long"),
        (MODEL, "model = \"a\"\nbreaker = { ¶x = 1 }", "rungs.a.breaker.x", "belongs here"),
        (MODEL, "model = \"a\"\nbreaker = { jitter = ¶2 }", "rungs.a.breaker.jitter", "range"),
    ]);
}

#[test]
fn of_prices() {
    const PRICE: &str = "model = \"a-1\"\nprice = { input = 1, output = 2 }";
    for (price, key, text) in [
        ("price = { input = ¶-1, output = 2 }", ".input", "-1 is out of range"),
        ("price = { input = ¶-0.5, output = 2 }", ".input", "out of range"),
        ("price = { input = ¶nan, output = 2 }", ".input", "out of range"),
        ("price = { input = ¶inf, output = 2 }", ".input", "out of range"),
        ("price = { input = ¶0x1e5, output = 2 }", ".input", "out of range"),
        ("price = { input = ¶\"1\", output = 2 }", ".input", "a number, not a string"),
        ("¶price = { input = 1 }", ".output", "'output' is missing"),
        ("price = { input = 1, output = 2, ¶cached = 1 }", ".cached", "belongs here"),
        ("price = ¶3", "", "a table, not an integer"),
    ] {
        let (config, place) = depart(PRICE, &format!("model = \"a-1\"\n{price}"));
        let refused = read(&config).expect_err(price);
        let key = format!("rungs.a.price{key}");
        assert_only(&refused.problems, Severity::Error, place, (&key, text), price);
    }
}

#[test]
fn of_prompts_captures_and_checks() {
    check(&[
        (ALIASES, "capture = ¶\"always\"", "ladders.chat.capture", "no word"),
        (
            ALIASES,
            "capture = { when = \"failover\", sample = ¶2 }",
            "ladders.chat.capture.sample",
            "from 0 to 1",
        ),
        (ALIASES, "capture = { when = \"off\", ¶x = 1 }", "ladders.chat.capture.x", "no key"),
        (ALIASES, "prompt = ¶\"short\"", "ladders.chat.prompt", "no variant"),
        (ALIASES, "validate = ¶1", "ladders.chat.validate", "true or false"),
        (ALIASES, "one_model = ¶1", "ladders.chat.one_model", "true or false"),
        (
            ALIASES,
            "[ladders.chat.prompts.short]\nc = ¶\"a.md\"",
            "ladders.chat.prompts.short.c",
            "no rung of this ladder",
        ),
        (
            ALIASES,
            "[ladders.chat.prompts.short]\na = ¶\"none.md\"",
            "ladders.chat.prompts.short.a",
            "cannot be read",
        ),
    ]);
}

#[test]
fn of_ladders() {
    check(&[
        (RUNGS, "rungs = [\"a\", ¶\"c\"]", "ladders.chat.rungs[1]", "no rung is called 'c'"),
        (RUNGS, "rungs = [\"a\", \"b\", ¶\"a\"]", "ladders.chat.rungs[2]", "twice"),
        (RUNGS, "rungs = ¶[]", "ladders.chat.rungs", "needs a rung"),
        (RUNGS, "rungs = [\"a\", ¶1]", "ladders.chat.rungs[1]", "a string"),
        (
            "[ladders.chat]\nrungs = [\"a\", \"b\"]",
            "[ladders.¶chat]",
            "ladders.chat.rungs",
            "missing",
        ),
        (ALIASES, "aliases = [¶\"chat\"]", "ladders.chat.aliases[0]", "the name of a ladder"),
        (ALIASES, "aliases = [¶\"a b\"]", "ladders.chat.aliases[0]", "cannot be a name"),
        (
            ALIASES,
            "aliases = [\"gpt\"]\n[ladders.x]\nrungs = [\"a\", \"b\"]\naliases = [¶\"gpt\"]",
            "ladders.x.aliases[0]",
            "an alias of the ladder 'chat' already",
        ),
        (
            ALIASES,
            "aliases = [¶\"x\"]\n[ladders.x]\nrungs = [\"a\", \"b\"]",
            "ladders.chat.aliases[0]",
            "the name of a ladder",
        ),
        (ALIASES, "interactive = ¶0", "ladders.chat.interactive", "true or false"),
        (ALIASES, "require = [¶\"tols\"]", "ladders.chat.require[0]", "did you mean 'tools'?"),
        (ALIASES, "clocks = { ttft = ¶15 }", "ladders.chat.clocks.ttft", "write a unit"),
        (ALIASES, "clocks = { ¶tfft = \"1s\" }", "ladders.chat.clocks.tfft", "mean 'ttft'?"),
        (ALIASES, "clocks = { total = ¶\"0s\" }", "ladders.chat.clocks.total", "no time at all"),
        (ALIASES, "retries = ¶-1", "ladders.chat.retries", "from 0 to 10"),
        (ALIASES, "fail_fast = ¶1", "ladders.chat.fail_fast", "true or false"),
        (ALIASES, "max_attempts = ¶0", "ladders.chat.max_attempts", "from 1 to 100"),
        (ALIASES, "patience = ¶2", "ladders.chat.patience", "write a unit"),
        (ALIASES, "side_effects = ¶\"non\"", "ladders.chat.side_effects", "did you mean 'none'?"),
        (ALIASES, "hedge = { delay = ¶\"atuo\" }", "ladders.chat.hedge.delay", "no duration"),
        (ALIASES, "hedge = { ¶dealy = \"1s\" }", "ladders.chat.hedge.dealy", "mean 'delay'?"),
        (
            ALIASES,
            "retry_budget = { budget = ¶20 }",
            "ladders.chat.retry_budget.budget",
            "from 0 to 1",
        ),
        (
            ALIASES,
            "retry_budget = { burst = ¶0 }",
            "ladders.chat.retry_budget.burst",
            "from 1 to 1000",
        ),
        (ALIASES, "retry_budget = ¶0.2", "ladders.chat.retry_budget", "table"),
        (
            ALIASES,
            "retry_budget = { ¶share = 0.2 }",
            "ladders.chat.retry_budget.share",
            "is no key",
        ),
        (ALIASES, "drill = ¶1.5", "ladders.chat.drill", "from 0 to 1"),
        (ALIASES, "shed = ¶\"prop\"", "ladders.chat.shed", "proportional, off"),
    ]);
}

#[test]
fn of_requirements() {
    let unable = |a: &str, b: &str| {
        let text = super::BASE.replace(MODEL, &format!("{MODEL}\nsupports = {a}"));
        text.replace("model = \"b-1\"", &format!("model = \"b-1\"\nsupports = {b}"))
            .replace(ALIASES, "require = [\"tools\", \"images\"]")
    };
    let refused = read(&unable("[\"tools\"]", "[]")).expect_err("no images");
    let expected = ("ladders.chat.require", "no rung of this ladder supports 'images'");
    assert_only(&refused.problems, Severity::Error, (37, 11), expected, "no images");
    let refused = read(&unable("[\"tools\"]", "[\"images\"]")).expect_err("none has both");
    let expected = ("ladders.chat.require", "supports all of it");
    assert_only(&refused.problems, Severity::Error, (37, 11), expected, "none has both");
    assert!(read(&unable("[\"tools\", \"images\"]", "[]")).is_ok());
}

#[test]
fn ten_at_once_are_all_told_in_the_order_of_their_lines() {
    let text = r#"[server]
listen = "nowhere"
hartbeat = "10s"
max_body = "8MB!"
[admin]
listen = "0.0.0.0:1"
[clients.web]
key_sha256 = "short"
[providers.openai]
dialect = "openai-chat"
base_url = "https://api.openai.com/v1"
api_key = "sk-secret"
[rungs.sol]
provider = "opnai"
model = "sol"
price = { input = -1, output = 2 }
[ladders.chat]
rungs = ["sol", "lost"]
clocks = { ttft = 15 }
"#;
    let refused = read(text).expect_err("ten mistakes");
    let found: Vec<_> = refused.errors().map(|it| (it.line, it.key.as_str())).collect();
    let expected = [
        (2, "server.listen"),
        (3, "server.hartbeat"),
        (4, "server.max_body"),
        (6, "admin.listen"),
        (8, "clients.web.key_sha256"),
        (12, "providers.openai.api_key"),
        (14, "rungs.sol.provider"),
        (16, "rungs.sol.price.input"),
        (18, "ladders.chat.rungs[1]"),
        (19, "ladders.chat.clocks.ttft"),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        refused.problems[6].to_string(),
        "14:12: error: rungs.sol.provider: no provider is called 'opnai'; did you mean 'openai'?"
    );
}
