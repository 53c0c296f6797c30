//! The admin API's OpenAPI document: whole, and true of what the relay really writes.
//!
//! Schemas are closed here: a field that the document does not have is as wrong as one
//! that it has and the relay does not write. What `admin` and `admin_changes` get from
//! real relays is held against it, too: see [`contract`].

pub(crate) mod contract;

use contract::{DOCUMENT, is};
use serde_json::{Value, json};
use shared::OverrideMode;
use shared::admin::board::{
    Bucket, HardDown, HoldState, KeyState, LadderSpark, LastFault, OperatorHere, Peer, RungSpark,
    RungUsual, Users,
};
use shared::admin::changes::{Change, ChangeRequest, ConfigWord, NewOrder, Target};
use shared::admin::ttl::Ttl;
use shared::admin::{Board, ConfigError, Curve, sample};
use shared::histogram::{self, Hist};
use shared::{AttemptOutcome, PassedOver, Price, RequestId, UnixMillis};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tests::{Provider, Relay, Reply, Setup};

/// A board on which all that may be missing is there.
fn full() -> Board {
    let mut board = sample::calm(&[("chat", &["a", "b"])]);
    let hist = Hist(vec![histogram::Bucket(0, 1, 0), histogram::Bucket(240, u32::MAX, 7)]);
    let rung = &mut board.rungs[0];
    sample::open(rung, 9);
    sample::force(rung, OverrideMode::ForcedOpen);
    rung.region = Some("eu".to_owned());
    rung.price = Some(Price { input: 1, cached_input: Some(2), cache_write: None, output: 3 });
    rung.context = Some(400_000);
    rung.limits.rps = Some(2.5);
    rung.limits.concurrent = Some(7);
    rung.health.hold = Some(HoldState { until_at: sample::NIGHT, why: "provider".to_owned() });
    rung.health.hard_down = Some(HardDown { why: "key".to_owned(), until_at: sample::NIGHT });
    rung.now.hist = hist.clone();
    rung.past.last_fault = Some(LastFault {
        at: sample::NIGHT,
        outcome: AttemptOutcome::ServerError,
        status: Some(500),
        code: None,
        text: Some("no".to_owned()),
        redacted: true,
    });
    rung.past.usual = Some(RungUsual { rps: Some(0.5), ..RungUsual::default() });
    rung.past.spark = Some(RungSpark { p95_ms: vec![None, Some(3)], ..RungSpark::default() });
    let ladder = &mut board.ladders[0];
    ladder.usual = Some(Users { hist, ..Users::default() });
    ladder.spark = Some(LadderSpark { rps: vec![0.5], ..LadderSpark::default() });
    ladder.steps[0].passed = BTreeMap::from([(PassedOver::MaxOutput, 3)]);
    ladder.budget.hedge = Bucket { level: 0.5, cap: 20.0, refused_1m: 1 };
    let key = KeyState { source: None, loaded_at: sample::NIGHT, tag: "beef".to_owned() };
    board.providers[0].key = Some(key);
    let here = OperatorHere { name: None, since_at: sample::NIGHT, via: "curl".to_owned() };
    board.relay.operators = vec![here];
    board.relay.fleet.peers = vec![Peer { name: "eu-2".to_owned(), at: sample::NIGHT }];
    let error = ConfigError { at: sample::NIGHT, line: Some(3), text: "no".to_owned() };
    board.relay.config.error = Some(error);
    board
}

fn written(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn what_a_board_may_hold_is_what_the_document_says() {
    is("Board", &written(&full())).unwrap();
    is("Board", &written(&sample::calm(&[]))).unwrap();
    let curve = Curve {
        rung: Some("a".to_owned()),
        ladder: None,
        rung_spark: Some(RungSpark::default()),
        ladder_spark: None,
        rung_usual: None,
        ladder_usual: None,
    };
    is("Curve", &written(&curve)).unwrap();
}

#[test]
fn a_field_too_many_or_too_few_is_seen() {
    let board = written(&full());
    for place in ["", "/rungs/0", "/rungs/0/health/probe", "/ladders/0/users", "/relay/journal"] {
        let mut more = board.clone();
        more.pointer_mut(place).unwrap()["new"] = json!(1);
        is("Board", &more).expect_err(place);
        let fields = board.pointer(place).unwrap().as_object().unwrap().keys();
        for field in fields {
            let mut less = board.clone();
            less.pointer_mut(place).unwrap().as_object_mut().unwrap().shift_remove(field);
            is("Board", &less).expect_err(field);
        }
    }
    let mut wrong = board;
    wrong["rungs"][0]["now"]["hist"] = json!([[241, 0, 0]]);
    is("Board", &wrong).unwrap_err();
}

#[test]
fn what_is_not_written_as_its_type_looks_is_described_as_written() {
    for at in [0, 1, 1_764_456_440_123, i64::MAX] {
        is("UnixMillis", &written(&UnixMillis(at))).unwrap();
    }
    for number in [0, 31, 1 << 40, u64::MAX] {
        is("RequestId", &written(&RequestId::from_number(number))).unwrap();
    }
    for seconds in [1, 60, 90, 3600, 5_400, 86_399, 86_400] {
        is("Ttl", &written(&Ttl::For(Duration::from_secs(seconds)))).unwrap();
    }
    is("Ttl", &written(&Ttl::Endless)).unwrap();
    let name = || "x".to_owned();
    let mut changes: Vec<_> =
        [Target::Rung(name()), Target::Provider(name()), Target::Domain(name())]
            .into_iter()
            .map(|target| Change::Override {
                target,
                mode: OverrideMode::ForcedOpen,
                cut_streams: true,
            })
            .collect();
    for order in [NewOrder::Rungs(vec![name()]), NewOrder::Config(ConfigWord::Config)] {
        changes.push(Change::Order { ladder: name(), order });
    }
    let request = ChangeRequest {
        id: "ann-17".to_owned(),
        reason: "hängt, ticket 4711".to_owned(),
        ttl: Some(Ttl::OVERRIDE),
        changes,
        expect: BTreeMap::from([("rung/x".to_owned(), 3)]),
        accept: vec![name()],
    };
    is("ChangeRequest", &written(&request)).unwrap();
}

#[test]
fn what_the_relay_refuses_to_read_the_document_refuses_too() {
    let words = |change: Value| json!({"id": "a", "reason": "b", "changes": [change]});
    for (wrong, why) in [
        (words(json!({"mode": "auto"})), "nobody's"),
        (words(json!({"rung": "a", "domain": "b", "mode": "auto"})), "two names"),
        (words(json!({"rung": "a"})), "no mode"),
        (words(json!({"rung": "a", "mode": "open"})), "no such mode"),
        (words(json!({"ladder": "a"})), "no order"),
        (words(json!({"ladder": "a", "order": "mine"})), "no such word"),
        (words(json!({"ladder": "a", "order": ["a"], "mode": "auto"})), "both"),
        (words(json!({"rung": "a", "mode": "auto", "tll": "1m"})), "misspelt"),
        (json!({"id": "a", "reason": "b", "changes": [], "tll": "1m"}), "misspelt"),
        (json!({"id": "a", "changes": []}), "no reason"),
        (json!("a"), "no object"),
    ] {
        assert!(serde_json::from_value::<ChangeRequest>(wrong.clone()).is_err(), "{why}");
        is("ChangeRequest", &wrong).expect_err(why);
    }
    for wrong in ["", "a b", "ä", &"x".repeat(65)] {
        is("NewId", &json!(wrong)).expect_err(wrong);
    }
    for wrong in ["", "  ", "two\nlines", &"x".repeat(401)] {
        is("Reason", &json!(wrong)).expect_err(wrong);
    }
}

#[tokio::test]
async fn it_is_served_and_has_every_call_with_its_id() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let served = relay.admin_get("/admin/v1/openapi.json").await;
    assert_eq!((served.status, served.header("content-type")), (200, Some("application/json")));
    assert_eq!(served.json(), *DOCUMENT, "the one that everything else here is held against");
    assert_eq!(DOCUMENT["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for (path, method, operation) in contract::operations() {
        let id = operation["operationId"].as_str().unwrap();
        assert!(ids.insert(id), "{id} twice");
        assert!(operation["summary"].is_string(), "{method} {path}");
        for (status, response) in operation["responses"].as_object().unwrap() {
            assert_ne!(response["description"], "", "{method} {path}: {status}");
        }
    }
    assert_eq!(ids.len(), 26, "{ids:?}");
    for schema in DOCUMENT["components"]["schemas"].as_object().unwrap().values() {
        jsonschema::meta::validate(schema).unwrap();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let once: BTreeSet<_> = required.iter().map(Value::as_str).collect();
        assert_eq!(once.len(), required.len(), "{schema}");
    }
}

/// The fields that a schema names, wherever it names them.
fn fields(schema: &Value) -> Vec<&str> {
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let parts = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|of| schema[of].as_array());
    own.chain(parts.flatten().flat_map(fields)).collect()
}

#[test]
fn no_name_of_the_api_changes_unnoticed() {
    // Schemas and what is written come from the same types: a renamed field changes both.
    let known: BTreeSet<_> = include_str!("openapi/names.txt").lines().map(str::to_owned).collect();
    let calls = contract::operations();
    let mut names: BTreeSet<_> =
        calls.map(|(path, method, _)| format!("{} {path}", method.to_uppercase())).collect();
    for (name, schema) in DOCUMENT["components"]["schemas"].as_object().unwrap() {
        names.extend(fields(schema).into_iter().map(|field| format!("{name}.{field}")));
        let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        names.extend(words.map(|word| format!("{name}: {word}")));
    }
    let gone: Vec<_> = known.difference(&names).collect();
    let new: Vec<_> = names.difference(&known).collect();
    assert!(gone.is_empty(), "programs out there still use these: {gone:#?}");
    assert!(new.is_empty(), "put these into tests/suite/openapi/names.txt: {new:#?}");
}

/// What the relay says it knows, where it is asked for what it does not.
#[tokio::test]
async fn parameters_are_those_that_the_relay_knows() {
    let a = Provider::always(Reply::text("from A")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut asked = 0;
    for (path, method, operation) in contract::operations() {
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let described: Vec<_> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        if described.is_empty() {
            continue;
        }
        asked += 1;
        assert_eq!(method, "get", "{path}");
        let answer = relay.admin_get(&format!("{path}?nonsense=1")).await;
        contract::conforms("GET", path, &answer);
        assert_eq!(answer.status, 400, "{path}");
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        let known = message.split("known: ").nth(1).unwrap().trim_end_matches('.');
        assert_eq!(known.split(", ").collect::<Vec<_>>(), described, "{path}");
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "query") {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for word in words.filter(|_| path != "/admin/v1/feed") {
                let answer = relay.admin_get(&format!("{path}?{name}={word}")).await;
                assert_eq!(answer.status, 200, "{path}?{name}={word}: {}", answer.body_text());
                contract::conforms("GET", path, &answer);
            }
        }
    }
    assert_eq!(asked, 6);
}

#[tokio::test]
async fn what_is_fed_is_what_the_document_says() {
    let a = Provider::in_turn(vec![
        Reply::error(500, "no", "server_error", &Value::Null),
        Reply::text("from A"),
    ])
    .await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder("hedge = { enabled = false }")).await;
    let mut feed = relay.feed_after(None, "?topics=requests").await;
    let mut wanted = BTreeSet::from(["snapshot", "tick", "rung", "ladder", "requests", "action"]);
    relay.ask().await;
    let note = json!({"id": "n-1", "text": "a note", "about": {"rung": "a"}});
    let json = [("content-type", "application/json")];
    let body = note.to_string();
    let told = relay.admin_call("POST", "/admin/v1/notes", &json, Some(body.as_bytes())).await;
    assert_eq!(told.status, 200, "{}", told.body_text());
    while !wanted.is_empty() {
        let event = feed.next().await.unwrap();
        contract::fed(&event.kind, &event.data);
        wanted.remove(event.kind.as_str());
        if event.kind == "note" {
            wanted.remove("action");
        }
    }
    for path in ["/healthz", "/readyz", "/metrics", "/admin/v1/board"] {
        contract::conforms("GET", path, &relay.admin_get(path).await);
    }
    let page = relay.admin_get("/admin/v1/requests").await;
    contract::conforms("GET", "/admin/v1/requests", &page);
    let id = page.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/admin/v1/requests/{id}");
    let one = relay.admin_get(&path).await;
    assert_eq!(one.status, 200);
    contract::conforms("GET", &path, &one);
}
