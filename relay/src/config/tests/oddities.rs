//! What is odd is a warning, once, and the config is used all the same.

use super::{BASE, Severity, assert_only, depart, read};

const MODEL: &str = "model = \"a-1\"";
const CONTEXT: &str = "context = 1000";
const PRICE: &str = "model = \"a-1\"\nprice = { input = 1, output = 2 }";
const API_KEY: &str = "api_key = { env = \"ONE_KEY\" }";
const URL: &str = "base_url = \"https://one.example/v1\"";
const RUNGS: &str = "rungs = [\"a\", \"b\"]";
const ALIASES: &str = "aliases = [\"gpt\"]";

#[test]
fn each_is_one_warning() {
    for (old, new, key, text) in [
        ("[server]", "[¶fleet]\nx = 1\n[server]", "fleet", "no effect in this version"),
        (URL, "base_url = ¶\"http://one.example\"", "providers.one.base_url", "use https"),
        (
            "[rungs.a]\nprovider = \"one\"\nmodel = \"a-1\"\nprice = { input = 1, output = 2 }",
            "[rungs.¶a]\nprovider = \"one\"\nmodel = \"a-1\"",
            "rungs.a.price",
            "cost will be unknown",
        ),
        (MODEL, "model = \"a\"\nbreaker = { probes = ¶1 }", "rungs.a.breaker.probes", "always 1"),
        (CONTEXT, "context=9\nmax_output = ¶10", "rungs.a.max_output", "context of 9"),
        (MODEL, "model = \"a\"\nmax_hold = ¶\"1s\"", "rungs.a.max_hold", "shorter than hold_base"),
        (MODEL, "model = \"a\"\nhold_base = ¶\"1h\"", "rungs.a.hold_base", "longer than max_hold"),
        (MODEL, "model = \"a\"\ndegrade = ¶[\"json_schema\"]", "rungs.a.degrade", "no effect"),
        (MODEL, "model = \"a\"\ndegrade = ¶[\"max_output\"]", "rungs.a.degrade", "not known"),
        (ALIASES, "capture = ¶\"failover\"", "ladders.chat.capture", "prompts and answers"),
        (MODEL, "model = \"a\"\nttft = ¶\"5s\"", "rungs.a.ttft", "connect clock, 5s"),
        (
            PRICE,
            "model=\"a\"\ncontext=9\nprice={input=1,output=2}\n[rungs.¶c]\nprovider=\"one\"\nmodel=\"c\"\nprice={input=1,output=2}",
            "rungs.c",
            "stands on no ladder",
        ),
        (
            API_KEY,
            "[providers.¶x]\ndialect=\"openai-chat\"\nbase_url=\"https://x\"",
            "providers.x",
            "no rung uses it",
        ),
        (
            ALIASES,
            "¶clocks = { ttft = \"90s\" }",
            "ladders.chat.clocks",
            "ttft (1m 30s) cannot run out",
        ),
        (ALIASES, "¶clocks = { inter_token = \"2m\" }", "ladders.chat.clocks", "inter_token (2m)"),
        (ALIASES, "fail_fast = true\n¶retries = 1", "ladders.chat.retries", "forbids them"),
        (ALIASES, "¶max_attempts = 1", "ladders.chat.max_attempts", "never reach all 2 rungs"),
        (ALIASES, "retries = 2\n¶max_attempts = 3", "ladders.chat.max_attempts", "no room for 2"),
        (ALIASES, "hedge = ¶{ delay = \"1s\" }", "ladders.chat.hedge", "fixed delay"),
        (ALIASES, "hedge = ¶{ min = \"5s\" }", "ladders.chat.hedge", "longer than max"),
    ] {
        let (config, place) = depart(old, new);
        let loaded = read(&config).expect(new);
        assert_only(&loaded.warnings, Severity::Warning, place, (key, text), new);
    }
}

#[test]
fn h1_of_several_models_without_a_context() {
    let found = |text: &str| {
        let loaded = read(text).unwrap();
        loaded.warnings.into_iter().map(|it| it.text).collect::<Vec<_>>()
    };
    let unset = BASE.replace(CONTEXT, "");
    let [text] = &found(&unset)[..] else { panic!("{:?}", found(&unset)) };
    assert!(text.contains("context of these rungs is not set: a."), "{text}");
    // Rungs of one model need none: whoever refuses it refuses it for all.
    assert_eq!(found(&unset.replace("\"a-1\"", "\"b-1\"")), [""; 0]);
}

#[test]
fn of_ladders_that_fall_at_one_blow() {
    // Only one rung, and the other one is taken out as well.
    let second = BASE.find("[rungs.b]").unwrap()..BASE.find("[ladders.chat]").unwrap();
    let mut alone = BASE.replace("provider = \"two\"", "provider = \"one\"");
    let loaded = read(&alone.replace("[providers.two]", "[providers.three]")).unwrap();
    let warnings: Vec<_> = loaded.warnings.iter().map(|it| (&*it.key, &*it.text)).collect();
    let shared = "all its rungs are in the domain 'one' and may fail together";
    assert_eq!(warnings, [("providers.three", "no rung uses it"), ("ladders.chat.rungs", shared)]);
    alone.replace_range(second, "");
    let loaded = read(&alone.replace(RUNGS, "rungs = [\"a\"]")).unwrap();
    let warnings: Vec<_> = loaded.warnings.iter().map(|it| (&*it.key, &*it.text)).collect();
    let single = "has one rung: nothing takes over when it fails";
    assert_eq!(warnings, [("providers.two", "no rung uses it"), ("ladders.chat.rungs", single)]);
}

#[test]
fn of_clocks_that_live_in_different_tables() {
    for (old, new, key, text) in [
        (MODEL, "model = \"a\"\nttft = \"2m\"", "ladders.chat.clocks", "the ttft of 'a' (2m)"),
        (
            MODEL,
            "model = \"a\"\ninter_token = \"90s\"",
            "ladders.chat.clocks",
            "inter_token of 'a'",
        ),
        (API_KEY, "connect = \"15s\"", "ladders.chat.clocks", "ends before 'a' has connected"),
    ] {
        let text_at = BASE.replace(old, new);
        let line = text_at.lines().position(|line| line == "[ladders.chat]").unwrap() + 1;
        let loaded = read(&text_at).expect(new);
        assert_only(&loaded.warnings, Severity::Warning, (line, 10), (key, text), new);
    }
    let fine =
        BASE.replace(API_KEY, "connect = \"15s\"").replace(MODEL, "model=\"a\"\nttft=\"16s\"");
    assert_eq!(read(&fine).unwrap().warnings, []);
}
