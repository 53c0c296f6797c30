//! The commands against a relay that is played: what is sent, what never is, and how a
//! command ends.

mod fake;

use super::Cli;
use super::common::Ended;
use super::common::Failed;
use clap::Parser as _;
use fake::{Fake, Reply, Seen};
use serde_json::{Value, json};
use shared::admin::Board;
use shared::admin::sample::{NIGHT, calm};

fn board() -> Board {
    calm(&[("chat", &["sol", "opus", "local"])])
}

/// What a relay answers to a change that it does.
fn done() -> Value {
    json!({ "id": "x", "at": NIGHT, "by": "ana", "now": {}, "journaled": true })
}

fn action(id: &str) -> Value {
    json!({
        "id": id, "at": NIGHT, "kind": "change", "by": "ana", "reason": "hangs",
        "changes": [{ "rung": "sol", "mode": "forced_open" }], "about": {}, "before": null,
        "after": null, "accepted": [], "check": null, "until_at": null, "ended_at": null,
        "ended_by": null, "undoes": null, "in_force": true
    })
}

/// A relay that is well; `other` may answer something else.
fn relay(other: impl Fn(&Seen) -> Option<Reply> + Send + Sync + 'static) -> Fake {
    Fake::start(move |seen| {
        other(seen).unwrap_or_else(|| match (seen.method.as_str(), seen.path.as_str()) {
            ("GET", "/admin/v1/board") => Reply::json(200, &json!(board())),
            ("GET", "/admin/v1/rungs/sol/override") => Reply::json(
                200,
                &json!({ "rung": "sol", "mode": "auto", "version": 6, "cut_streams": false }),
            ),
            ("GET", "/admin/v1/ladders/chat/order") => Reply::json(
                200,
                &json!({
                    "ladder": "chat", "order": ["sol", "opus", "local"],
                    "config_order": ["sol", "opus", "local"], "source": "config", "version": 9
                }),
            ),
            ("POST", "/admin/v1/preview") => {
                Reply::json(200, &json!({ "ladders": [], "warnings": [] }))
            }
            ("POST", "/admin/v1/changes") => Reply::json(200, &done()),
            _ => Reply::json(404, &json!({ "error": { "message": "There is nothing here." } })),
        })
    })
}

fn plain() -> Fake {
    relay(|_| None)
}

fn run(words: &[&str], relays: &[&str]) -> Result<Ended, Failed> {
    let relays = relays.iter().flat_map(|url| ["--relay", url]);
    let words = std::iter::once("belay").chain(words.iter().copied()).chain(relays);
    Cli::try_parse_from(words).unwrap().dispatch()
}

const OPEN: [&str; 6] = ["override", "sol", "open", "--reason", "hangs", "--yes"];

#[test]
fn an_override_is_previewed_then_sent_with_what_it_expects() {
    let relay = plain();
    let words = [OPEN.as_slice(), &["--for", "30m"]].concat();
    assert_eq!(run(&words, &[&relay.url]).unwrap(), Ended::Done);
    let previewed = relay.only("POST", "/admin/v1/preview");
    let sent = relay.only("POST", "/admin/v1/changes");
    assert_eq!(previewed.json(), sent.json(), "what was shown is what is done");
    let body = sent.json();
    assert!(body["id"].as_str().unwrap().starts_with("act_"), "{body}");
    assert_eq!(body["changes"], json!([{ "rung": "sol", "mode": "forced_open" }]));
    assert_eq!(body["expect"], json!({ "rung/sol": 6 }));
    assert_eq!((&body["reason"], &body["ttl"]), (&json!("hangs"), &json!("30m")));
}

#[test]
fn words_become_the_change_that_they_say() {
    let rows: [(&[&str], Value); 5] = [
        (
            &["override", "--provider", "at-sol", "closed"],
            json!([{ "provider": "at-sol", "mode": "forced_closed" }]),
        ),
        (&["override", "sol", "auto"], json!([{ "rung": "sol", "mode": "auto" }])),
        (
            &["override", "sol", "open", "--cut-streams"],
            json!([{ "rung": "sol", "mode": "forced_open", "cut_streams": true }]),
        ),
        (&["demote", "--domain", "at-opus"], json!([{ "domain": "at-opus", "mode": "demoted" }])),
        (&["order", "chat", "--config"], json!([{ "ladder": "chat", "order": "config" }])),
    ];
    for (words, changes) in rows {
        let relay = plain();
        let words = [words, &["--reason", "r", "--yes"]].concat();
        assert_eq!(run(&words, &[&relay.url]).unwrap(), Ended::Done, "{words:?}");
        assert_eq!(relay.only("POST", "/admin/v1/changes").json()["changes"], changes);
    }
}

#[test]
fn an_order_is_completed_and_made_on_the_version_that_was_seen() {
    let relay = plain();
    let words = ["order", "chat", "local", "--reason", "cheap", "--yes", "--endless"];
    assert_eq!(run(&words, &[&relay.url]).unwrap(), Ended::Done);
    let body = relay.only("POST", "/admin/v1/changes").json();
    assert_eq!(body["changes"][0]["order"], json!(["local", "sol", "opus"]));
    assert_eq!(body["expect"], json!({ "ladder/chat": 9 }));
    assert_eq!(body["ttl"], json!("endless"));
}

#[test]
fn nothing_is_sent_that_nobody_agreed_to() {
    let relay = plain();
    // No terminal here, as in a pipe or a cron job.
    let Failed(text) = run(&OPEN[..5], &[&relay.url]).unwrap_err();
    assert!(text.contains("nothing was changed") && text.contains("--yes"), "{text}");
    assert_eq!(relay.count("POST", "/admin/v1/preview"), 1, "shown all the same");
    assert_eq!(relay.count("POST", "/admin/v1/changes"), 0);
}

#[test]
fn the_last_rung_is_let_go_by_its_ladders_name_only() {
    let last = |seen: &Seen| {
        let warning =
            json!({ "kind": "last_rung", "ladder": "chat", "rung": null, "text": "none" });
        (seen.path == "/admin/v1/preview")
            .then(|| Reply::json(200, &json!({ "ladders": [], "warnings": [warning] })))
    };
    let played = relay(last);
    let Failed(text) = run(&OPEN, &[&played.url]).unwrap_err();
    assert!(text.contains("--accept chat") && text.contains("demote"), "{text}");
    assert_eq!(played.count("POST", "/admin/v1/changes"), 0);
    let words = [OPEN.as_slice(), &["--accept", "chat"]].concat();
    assert_eq!(run(&words, &[&played.url]).unwrap(), Ended::Done);
    assert_eq!(played.only("POST", "/admin/v1/changes").json()["accept"], json!(["chat"]));
}

#[test]
fn what_is_not_confirmed_is_looked_up_and_never_sent_again() {
    let lost = |seen: &Seen| (seen.path == "/admin/v1/changes").then_some(Reply::Drop);
    let played = relay(lost);
    assert_eq!(run(&OPEN, &[&played.url]).unwrap(), Ended::NotConfirmed);
    assert_eq!(played.count("POST", "/admin/v1/changes"), 1);
    let id = played.only("POST", "/admin/v1/changes").json()["id"].clone();
    let looked = format!("/admin/v1/actions/{}", id.as_str().unwrap());
    assert!(played.count("GET", &looked) >= 2, "looked up by its id");

    // The answer was lost, the change was not.
    let found = relay(move |seen| match &*seen.path {
        "/admin/v1/changes" => Some(Reply::Drop),
        path if path.starts_with("/admin/v1/actions/") => {
            Some(Reply::json(200, &action(path.rsplit('/').next().unwrap())))
        }
        _ => None,
    });
    assert_eq!(run(&OPEN, &[&found.url]).unwrap(), Ended::Done);
    assert_eq!(found.count("POST", "/admin/v1/changes"), 1);
}

#[test]
fn an_error_of_the_relay_or_of_what_stands_before_it_confirms_nothing() {
    let ending = relay(|seen| {
        let error = json!({ "error": { "message": "The relay is ending." } });
        (seen.path == "/admin/v1/changes").then(|| Reply::json(503, &error))
    });
    assert_eq!(run(&OPEN, &[&ending.url]).unwrap(), Ended::NotConfirmed);
    assert_eq!(ending.count("POST", "/admin/v1/changes"), 1);
}

#[test]
fn an_id_that_was_not_confirmed_can_be_given_again() {
    let relay = plain();
    let words = [OPEN.as_slice(), &["--id", "act_01hgw2bbg0000"]].concat();
    assert_eq!(run(&words, &[&relay.url]).unwrap(), Ended::Done);
    let body = relay.only("POST", "/admin/v1/changes").json();
    assert_eq!(body["id"], json!("act_01hgw2bbg0000"));
    let words = [OPEN.as_slice(), &["--id", "not an id"]].concat();
    assert!(run(&words, &[&relay.url]).is_err());
}

#[test]
fn who_was_not_the_first_changes_nothing() {
    let faster = relay(|seen| {
        let present = json!({ "rungs": [{
            "rung": "sol", "mode": "demoted", "version": 7, "cut_streams": false, "by": "ben"
        }] });
        let error = json!({ "message": "sol has changed.", "code": "version", "present": present });
        (seen.path == "/admin/v1/changes").then(|| Reply::json(412, &json!({ "error": error })))
    });
    assert_eq!(run(&OPEN, &[&faster.url]).unwrap(), Ended::Failed);
    assert_eq!(faster.count("POST", "/admin/v1/changes"), 1);
}

#[test]
fn unknown_names_reach_no_relay() {
    let rows: [&[&str]; 3] = [
        &["override", "soll", "open", "--reason", "r", "--yes"],
        &["demote", "--provider", "nobody", "--reason", "r", "--yes"],
        &["order", "chat", "soll", "--reason", "r", "--yes"],
    ];
    for words in rows {
        let relay = plain();
        assert!(run(words, &[&relay.url]).is_err(), "{words:?}");
        assert_eq!(relay.count("POST", "/admin/v1/changes"), 0, "{words:?}");
    }
}

#[test]
fn a_relay_that_is_lost_does_not_keep_the_others_from_the_change() {
    let relay = plain();
    let dead = Fake::nobody();
    assert_eq!(run(&OPEN, &[&dead, &relay.url]).unwrap(), Ended::Failed);
    assert_eq!(relay.count("POST", "/admin/v1/changes"), 1);
    assert_eq!(run(&["board"], &[&dead, &relay.url]).unwrap(), Ended::Failed);
    assert_eq!(run(&["board"], &[&relay.url]).unwrap(), Ended::Done);
    assert_eq!(run(&["board", "--json"], &[&dead, &relay.url]).unwrap(), Ended::Failed);
}

#[test]
fn deeds_carry_an_id_and_end_as_they_went() {
    let played = relay(|seen| match &*seen.path {
        "/admin/v1/rungs/sol/probe" | "/admin/v1/notes" => {
            let done = json!({ "id": "x", "at": NIGHT, "by": "ana", "journaled": true });
            Some(Reply::json(200, &done))
        }
        path if path.ends_with("/check") => {
            let well = path.contains("sol");
            let check = json!({
                "id": "x", "at": NIGHT, "by": "ana", "rung": "sol", "kind": "check",
                "outcome": if well { "ok" } else { "auth" }, "status": 200, "ttft_ms": 400,
                "latency_ms": 500, "text": null, "journaled": true
            });
            Some(Reply::json(200, &check))
        }
        "/admin/v1/actions/act_1/undo" => Some(Reply::json(200, &done())),
        "/admin/v1/actions/act_1" => Some(Reply::json(200, &action("act_1"))),
        _ => None,
    });
    let url = [played.url.as_str()];
    assert_eq!(run(&["probe", "sol"], &url).unwrap(), Ended::Done);
    assert_eq!(run(&["check-rung", "sol"], &url).unwrap(), Ended::Done);
    assert_eq!(run(&["check-rung", "opus"], &url).unwrap(), Ended::Failed, "not well");
    assert_eq!(run(&["check-rung", "opus", "--json"], &url).unwrap(), Ended::Failed);
    assert_eq!(run(&["undo", "act_1", "--yes"], &url).unwrap(), Ended::Done);
    assert!(run(&["undo", "act_1"], &url).is_err(), "nobody agreed");
    assert_eq!(
        run(&["note", "vendor says 30 min", "--ladder", "chat"], &url).unwrap(),
        Ended::Done
    );
    let note = played.only("POST", "/admin/v1/notes").json();
    assert_eq!(
        (&note["text"], &note["about"]),
        (&json!("vendor says 30 min"), &json!({ "ladder": "chat" }))
    );
    assert_eq!(played.count("POST", "/admin/v1/actions/act_1/undo"), 1);
    for path in ["/admin/v1/rungs/sol/probe", "/admin/v1/rungs/sol/check"] {
        let id = played.only("POST", path).json()["id"].as_str().unwrap().to_owned();
        assert!(id.starts_with("act_"), "{id}");
    }
}

#[test]
fn an_undo_is_previewed_and_goes_to_those_who_know_the_action() {
    let present = |mode: &str, version: u64| {
        json!({ "rungs": [{
            "rung": "sol", "mode": mode, "version": version, "cut_streams": false
        }] })
    };
    let knows = relay(move |seen| match &*seen.path {
        "/admin/v1/actions/act_1/undo" => Some(Reply::json(200, &done())),
        "/admin/v1/actions/act_1" => {
            let mut action = action("act_1");
            action["before"] = present("demoted", 1);
            action["after"] = present("forced_open", 2);
            Some(Reply::json(200, &action))
        }
        _ => None,
    });
    let knows_not = plain();
    let words = ["undo", "act_1", "--yes"];
    assert_eq!(run(&words, &[&knows_not.url, &knows.url]).unwrap(), Ended::Done);
    let previewed = knows.only("POST", "/admin/v1/preview").json();
    assert_eq!(previewed["changes"], json!([{ "rung": "sol", "mode": "demoted" }]));
    assert_eq!(knows.count("POST", "/admin/v1/actions/act_1/undo"), 1);
    assert_eq!(knows_not.count("POST", "/admin/v1/actions/act_1/undo"), 0);
    // Where nobody knows it, nobody is asked to take it back; one out of reach is told.
    assert!(run(&words, &[&knows_not.url]).is_err());
    assert_eq!(run(&words, &[&Fake::nobody(), &knows.url]).unwrap(), Ended::Failed);
}

#[test]
fn filters_of_the_history_reach_the_relay() {
    let relay = relay(|seen| {
        (seen.path == "/admin/v1/requests")
            .then(|| Reply::json(200, &json!({ "items": [], "next": null })))
    });
    let words = ["requests", "--trouble", "--ladder", "chat", "--sort", "-cost", "--limit", "5"];
    assert_eq!(run(&words, &[&relay.url]).unwrap(), Ended::Done);
    let query = relay.only("GET", "/admin/v1/requests").query;
    for pair in ["trouble=true", "ladder=chat", "sort=-cost", "limit=5"] {
        assert!(query.split('&').any(|found| found == pair), "{query}");
    }
}

#[test]
fn a_token_is_sent_and_never_shown() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "s3cret-token\n").unwrap();
    let relay =
        relay(|seen| (seen.path == "/admin/v1/board").then(|| Reply::json(401, &json!({}))));
    let path = file.path().to_str().unwrap();
    let words = [OPEN.as_slice(), &["--token-file", path]].concat();
    let Failed(text) = run(&words, &[&relay.url]).unwrap_err();
    assert!(!text.contains("s3cret"), "{text}");
    let seen = relay.only("GET", "/admin/v1/board");
    assert!(seen.head.contains("Bearer s3cret-token"), "{}", seen.head);
    std::fs::write(file.path(), "  ").unwrap();
    let Failed(text) = run(&words, &[&relay.url]).unwrap_err();
    assert!(text.contains("is empty"), "{text}");
}

#[test]
fn command_lines_that_make_no_sense_are_refused_before_anything_is_asked() {
    let dead = Fake::nobody();
    let nonsense: [&[&str]; 4] = [
        &["override", "sol", "--reason", "r"],
        &["override", "open", "--reason", "r"],
        &["override", "sol", "auto", "--cut-streams", "--reason", "r"],
        &["order", "chat", "sol", "sol", "--reason", "r"],
    ];
    for words in nonsense {
        assert_eq!(run(words, &[&dead]).unwrap(), Ended::Usage, "{words:?}");
    }
    let unread: [&[&str]; 8] = [
        &["override", "sol", "open"],
        &["order", "chat", "--reason", "r"],
        &["order", "chat", "sol", "--config", "--reason", "r"],
        &["override", "sol", "open", "--reason", "r", "--for", "15m", "--endless"],
        &["override", "sol", "open", "--reason", "r", "--for", "2days"],
        &["board", "--watch", "--json"],
        &["note"],
        &["requests", "--since", "yesterday"],
    ];
    for words in unread {
        let words = std::iter::once("belay").chain(words.iter().copied());
        assert_eq!(Cli::try_parse_from(words.clone()).unwrap_err().exit_code(), 2);
    }
}
