//! What a request costs: B54, B57, B59, and one known stream of every dialect, to the
//! nano-dollar, wherever it is told.

use super::client::{CLIENTS, Client};
use super::pair::{only_row, over_priced as over, two};
use super::speech::{SPEECHES, Speech};
use serde_json::{Value, json};
use shared::RequestId;
use shared::admin::AttemptRow;
use tests::relay::{command, tried};
use tests::{Answer, Relay, Reply, openai};

/// Three dollars for a million fresh tokens: 3,000 nano-dollars for one.
pub(super) const PRICE: &str =
    "price = { input = 3.0, cached_input = 0.3, cache_write = 3.75, output = 15.0 }";
const IN: i64 = 3_000;
const READ: i64 = 300;
const WRITTEN: i64 = 3_750;
const OUT: i64 = 15_000;

/// What the journal has, in nano-dollars or as the reason why not: of the request, and of
/// each of its attempts.
type Booked = (Result<i64, String>, Vec<Result<i64, String>>);

fn booked(relay: &Relay, answer: &Answer) -> Booked {
    let id: RequestId = answer.id().parse().unwrap();
    let file = relay.open_journal();
    let read = |row: &rusqlite::Row<'_>| {
        let (cost, why): (Option<i64>, Option<String>) = (row.get(0)?, row.get(1)?);
        Ok(cost.ok_or_else(|| why.expect("a cost or the reason why there is none")))
    };
    let of_request = "SELECT cost_nano, no_cost FROM requests WHERE id = ?1";
    let request = file.query_row(of_request, [id.number()], read).unwrap();
    let of_attempts = "SELECT cost_nano, no_cost FROM attempts WHERE request = ?1 ORDER BY n";
    let mut query = file.prepare(of_attempts).unwrap();
    let attempts = query.query_map([id.number()], read).unwrap().map(Result::unwrap).collect();
    (request, attempts)
}

/// What the answer itself says it cost, in nano-dollars, and whether that is an estimate.
fn stamped(answer: &Answer, is_stream: bool) -> (Option<i64>, bool) {
    let (usd, estimated) = if is_stream {
        let stamp = answer.stamp().expect("a stamp");
        (stamp["cost_usd"].as_f64(), stamp["estimated"] == true)
    } else {
        let usd = answer.header("x-belay-cost-usd").map(|text| text.parse::<f64>().unwrap());
        (usd, answer.header("x-belay-estimated") == Some("true"))
    };
    #[expect(clippy::cast_possible_truncation, reason = "a few cents")]
    let nano = usd.map(|usd| (usd * 1e9).round() as i64);
    (nano, estimated)
}

/// Every client, streaming or not, is told this cost of this reply, and so is the journal.
async fn costs(name: &str, (speech, reply): (Speech, Reply), nano: i64) -> AttemptRow {
    let (relay, _a) = over(speech, reply, PRICE).await;
    let mut last = None;
    for client in CLIENTS {
        for is_stream in [true, false] {
            let answer =
                if is_stream { client.ask(&relay).await } else { client.ask_whole(&relay).await };
            client.read_whole(&answer);
            let row = only_row(&relay, &answer, "ok").await;
            assert!(!row.estimated, "{name} {client:?}");
            assert_eq!(stamped(&answer, is_stream), (Some(nano), false), "{name} {client:?}");
            assert_eq!(booked(&relay, &answer), (Ok(nano), vec![Ok(nano)]), "{name} {client:?}");
            last = Some(row);
        }
    }
    last.expect("a row")
}

/// A chat stream with this `usage`.
fn chat(usage: &Value) -> Reply {
    let chunk = json!({"id": "c-1", "choices": [], "usage": usage});
    let parts = [openai::role(), openai::text("ok"), openai::finish("stop")].concat();
    Reply::sse(parts + &openai::event(&chunk) + openai::DONE)
}

/// A response with this `usage`.
fn response(usage: &Value) -> Reply {
    let completed = json!({"type": "response.completed", "sequence_number": 2, "response": {
        "id": "resp_1", "object": "response", "model": "m-r", "status": "completed",
        "output": [], "usage": usage,
    }});
    let speech = Speech::Responses;
    let end = format!("event: response.completed\ndata: {completed}\n\n");
    Reply::sse(speech.preamble() + &speech.text("ok") + &end)
}

/// A Gemini stream with these counts, one after another.
fn gemini(counts: &[Value]) -> Reply {
    let chunk = |(n, usage): (usize, &Value)| {
        let mut candidate = json!({"index": 0,
            "content": {"role": "model", "parts": [{"text": "o"}]}});
        if n + 1 == counts.len() {
            candidate["finishReason"] = json!("STOP");
        }
        openai::event(&json!({"candidates": [candidate], "usageMetadata": usage}))
    };
    Reply::sse(counts.iter().enumerate().map(chunk).collect::<String>())
}

/// 200 fresh, 800 from the cache, 100 out.
const CACHED: i64 = 200 * IN + 800 * READ + 100 * OUT;
/// The same and 400 written to the cache.
const BOTH: i64 = CACHED + 400 * WRITTEN;

#[tokio::test]
async fn b57_cached_tokens_are_charged_once() {
    assert_eq!((CACHED, BOTH), (2_340_000, 3_840_000), "as the report has it");
    for (name, speech, nano, tokens) in [
        ("B57-cached-openai.sse", Speech::Chat, CACHED, (Some(1000), None)),
        ("B57-cached-anthropic.sse", Speech::Messages, BOTH, (Some(1400), Some(400))),
        ("B57-cached-gemini.sse", Speech::Gemini, CACHED, (Some(1000), None)),
    ] {
        let row = costs(name, (speech, Reply::fixture(name)), nano).await;
        assert_eq!((row.input_tokens, row.cache_write_tokens), tokens, "{name}");
        assert_eq!((row.cached_tokens, row.output_tokens), (Some(800), Some(100)), "{name}");
    }
}

#[tokio::test]
async fn a_known_stream_costs_what_it_costs() {
    let details =
        |cached: u64, written: u64| json!({"cached_tokens": cached, "cache_write_tokens": written});
    for (name, reply, nano) in [
        (
            "reasoning inside",
            chat(&json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
                "prompt_tokens_details": details(800, 0),
                "completion_tokens_details": {"reasoning_tokens": 40}})),
            CACHED,
        ),
        (
            "reasoning beside",
            chat(&json!({"prompt_tokens": 1000, "completion_tokens": 60, "total_tokens": 1100,
                "prompt_tokens_details": details(800, 0),
                "completion_tokens_details": {"reasoning_tokens": 40}})),
            CACHED,
        ),
        (
            "a cache write",
            chat(&json!({"prompt_tokens": 1400, "completion_tokens": 100, "total_tokens": 1500,
                "prompt_tokens_details": details(800, 400)})),
            BOTH,
        ),
        (
            "more cached than there was",
            chat(&json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12,
                "prompt_tokens_details": details(900, 400)})),
            10 * READ + 2 * OUT,
        ),
    ] {
        let row = costs(name, (Speech::Chat, reply), nano).await;
        let flag = (name == "more cached than there was")
            .then_some("its token counts contradict each other");
        assert_eq!(row.detail.as_deref(), flag, "{name}");
    }
    for (name, usage, nano) in [
        (
            "cached, with reasoning",
            json!({"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100,
                "input_tokens_details": details(800, 0),
                "output_tokens_details": {"reasoning_tokens": 40}}),
            CACHED,
        ),
        (
            "a cache write",
            json!({"input_tokens": 1400, "output_tokens": 100, "total_tokens": 1500,
                "input_tokens_details": details(800, 400)}),
            BOTH,
        ),
    ] {
        costs(name, (Speech::Responses, response(&usage)), nano).await;
    }
    for (name, counts) in [
        (
            "cumulative",
            vec![
                json!({"promptTokenCount": 900, "candidatesTokenCount": 1}),
                json!({"promptTokenCount": 1000, "candidatesTokenCount": 20}),
                json!({"promptTokenCount": 1000, "cachedContentTokenCount": 800,
                    "candidatesTokenCount": 60, "thoughtsTokenCount": 40}),
            ],
        ),
        (
            "the provider's own tools",
            vec![json!({"promptTokenCount": 900, "toolUsePromptTokenCount": 100,
                "cachedContentTokenCount": 800, "candidatesTokenCount": 100})],
        ),
    ] {
        costs(name, (Speech::Gemini, gemini(&counts)), CACHED).await;
    }
}

#[tokio::test]
async fn counts_in_every_chunk_are_not_added_up() {
    let with = |count: u64| {
        openai::event(&json!({
            "id": "c-1", "choices": [{"index": 0, "delta": {"content": "o"}}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": count},
        }))
    };
    let parts = [openai::role(), with(1), with(50), with(100), openai::finish("stop")];
    let reply = Reply::sse(parts.concat() + openai::DONE);
    costs("cumulative", (Speech::Chat, reply), 1000 * IN + 100 * OUT).await;
}

#[tokio::test]
async fn half_a_nano_dollar_is_rounded_once() {
    let price = "price = { input = 0.0375, output = 0.15 }";
    for speech in SPEECHES {
        // 11 × 37.5 + 3 × 150.
        let (relay, _a) = over(speech, speech.good("ok"), price).await;
        let answer = Client::Messages.ask(&relay).await;
        only_row(&relay, &answer, "ok").await;
        assert_eq!(booked(&relay, &answer), (Ok(863), vec![Ok(863)]), "{speech:?}");
    }
}

#[tokio::test]
async fn b54_a_later_count_replaces_an_earlier_one() {
    for (name, (input, output), (cached, written), nano) in [
        ("B54-cumulative.sse", (25, 15), (Some(0), Some(0)), 25 * IN + 15 * OUT),
        (
            "B54-usage-only-at-end.sse",
            (8500, 5),
            (None, Some(4500)),
            4000 * IN + 4500 * WRITTEN + 5 * OUT,
        ),
    ] {
        let row = costs(name, (Speech::Messages, Reply::fixture(name)), nano).await;
        assert_eq!((row.input_tokens, row.output_tokens), (Some(input), Some(output)), "{name}");
        assert_eq!((row.cached_tokens, row.cache_write_tokens), (cached, written), "{name}");
        let (relay, _a) = over(Speech::Messages, Reply::fixture(name), PRICE).await;
        for client in CLIENTS {
            for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
                assert_eq!(client.read_whole(&answer).usage, Some((input, output)), "{client:?}");
            }
        }
    }
}

/// What a good answer of [`Speech::good`] costs.
const GOOD: i64 = 11 * IN + 3 * OUT;

#[tokio::test]
async fn a_lost_hedge_is_an_estimate_and_part_of_the_requests_cost() {
    for (client, speech, b) in [
        (Client::Chat, Speech::Chat, Speech::Messages),
        (Client::Messages, Speech::Messages, Speech::Gemini),
        (Client::Responses, Speech::Responses, Speech::Chat),
        (Client::Messages, Speech::Gemini, Speech::Responses),
    ] {
        let slow = Reply::stream()
            .send(speech.preamble())
            .pause(tests::clock::ms(1500))
            .send(speech.text("from A") + &speech.stop());
        let (setup, _a, _b) = two((speech, slow), b).await;
        let setup = setup.rung("a", PRICE).rung("b", PRICE);
        let setup = setup.ladder("hedge = { delay = \"250ms\", burst = 1000 }");
        let relay = Relay::start(&setup).await;
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "from B");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first cancelled lost_race", "b hedge ok"]);
        let [lost, won] = &detail.attempts[..] else { panic!("two attempts") };
        assert!(lost.estimated && !won.estimated, "{speech:?}");
        // Anthropic counts the prompt, and one token, before it says anything.
        let (prompt, output) = (lost.input_tokens.unwrap(), lost.output_tokens.unwrap());
        assert_eq!(output, u64::from(speech == Speech::Messages), "{speech:?}");
        assert!(prompt > 0 && (speech != Speech::Messages || prompt == 11), "{prompt}");
        let lost = i64::try_from(prompt).unwrap() * IN + i64::try_from(output).unwrap() * OUT;
        assert_eq!(booked(&relay, &answer), (Ok(lost + GOOD), vec![Ok(lost), Ok(GOOD)]));
        // So is the stamp: what was tried in vain is part of it.
        assert_eq!(stamped(&answer, true), (Some(lost + GOOD), true));
    }
}

#[tokio::test]
async fn what_a_failed_attempt_cost_is_part_of_the_requests_cost() {
    for speech in SPEECHES {
        let error = speech.error_event("worker lost");
        let reply = speech.begins("sixteen letters.").send(error);
        let (setup, _a, _b) = two((speech, reply), Speech::Chat).await;
        let relay = Relay::start(&setup.rung("a", PRICE).rung("b", PRICE)).await;
        let answer = Client::Messages.ask_whole(&relay).await;
        Client::Messages.assert_good(&answer, "from B");
        let detail = relay.journaled(&answer.id()).await;
        let lost = &detail.attempts[0];
        assert!(lost.estimated && !detail.attempts[1].estimated, "{speech:?}");
        // Four bytes of text make a token.
        assert_eq!(lost.output_tokens, Some(4), "{speech:?}");
        let prompt = i64::try_from(lost.input_tokens.unwrap()).unwrap();
        assert!(prompt > 0 && (speech != Speech::Messages || prompt == 11), "{speech:?}");
        let lost = prompt * IN + 4 * OUT;
        assert_eq!(booked(&relay, &answer), (Ok(lost + GOOD), vec![Ok(lost), Ok(GOOD)]));
        assert_eq!(stamped(&answer, false), (Some(lost + GOOD), true));
    }
}

#[tokio::test]
async fn a_refusal_by_status_is_free() {
    for speech in SPEECHES {
        let reply = Reply::json(529, &speech.error_body(529, "busy"));
        let (setup, _a, _b) = two((speech, reply), Speech::Messages).await;
        let relay = Relay::start(&setup.rung("a", PRICE).rung("b", PRICE)).await;
        let answer = Client::Chat.ask(&relay).await;
        let detail = relay.journaled(&answer.id()).await;
        assert!(!detail.attempts[0].estimated);
        assert_eq!(booked(&relay, &answer), (Ok(GOOD), vec![Ok(0), Ok(GOOD)]), "{speech:?}");
    }
}

#[tokio::test]
async fn a_stream_that_was_cut_costs_an_estimate() {
    for speech in SPEECHES {
        let (relay, _a) = over(speech, speech.begins("sixteen letters."), PRICE).await;
        for client in CLIENTS {
            let answer = client.ask(&relay).await;
            client.assert_broken(&answer, "sixteen letters.");
            let row = only_row(&relay, &answer, "disconnect").await;
            assert!(row.estimated, "{client:?} {speech:?}");
            assert_eq!(row.output_tokens, Some(4), "{client:?} {speech:?}");
            let nano = i64::try_from(row.input_tokens.unwrap()).unwrap() * IN + 4 * OUT;
            assert_eq!(booked(&relay, &answer), (Ok(nano), vec![Ok(nano)]));
            assert_eq!(stamped(&answer, true), (Some(nano), true), "{client:?} {speech:?}");
        }
    }
}

#[tokio::test]
async fn b59_without_a_price_there_is_no_cost_and_a_reason() {
    for client in CLIENTS {
        let (relay, _a) = over(Speech::Gemini, Speech::Gemini.good("ok"), "").await;
        for is_stream in [true, false] {
            let answer =
                if is_stream { client.ask(&relay).await } else { client.ask_whole(&relay).await };
            let row = only_row(&relay, &answer, "ok").await;
            assert_eq!((row.cost_usd, row.no_cost.as_deref()), (None, Some("no price")));
            assert_eq!((row.input_tokens, row.output_tokens), (Some(11), Some(3)));
            let none = || Err("no price".to_owned());
            assert_eq!(booked(&relay, &answer), (none(), vec![none()]), "{client:?}");
            assert_eq!(stamped(&answer, is_stream), (None, false), "{client:?}");
        }
    }
}

#[tokio::test]
async fn b59_a_price_of_nothing_is_a_price() {
    let (relay, _a) =
        over(Speech::Messages, Speech::Messages.good("ok"), "price = { input = 0, output = 0 }")
            .await;
    for is_stream in [true, false] {
        let client = Client::Messages;
        let answer =
            if is_stream { client.ask(&relay).await } else { client.ask_whole(&relay).await };
        only_row(&relay, &answer, "ok").await;
        assert_eq!(booked(&relay, &answer), (Ok(0), vec![Ok(0)]));
        assert_eq!(stamped(&answer, is_stream), (Some(0), false));
    }
}

#[tokio::test]
async fn b59_the_cost_follows_the_rung_that_answered() {
    for (speech, price, expected) in [
        (Speech::Messages, "price = { input = 1.0, output = 2.0 }", Ok(11 * 1_000 + 3 * 2_000)),
        (Speech::Gemini, "", Err("no price".to_owned())),
    ] {
        let reply = Reply::json(529, &Speech::Chat.error_body(529, "busy"));
        let (setup, _a, _b) = two((Speech::Chat, reply), speech).await;
        let setup = setup.rung("a", PRICE).rung("b", price).ladder("aliases = [\"gpt-4o\"]");
        let relay = Relay::start(&setup).await;
        let request = openai::with(Client::Messages.request(), &json!({"model": "gpt-4o"}));
        let answer = Client::Messages.open_with(&relay, &[], &request).await.finish().await;
        Client::Messages.assert_good(&answer, "from B");
        relay.journaled(&answer.id()).await;
        let (request, attempts) = booked(&relay, &answer);
        assert_eq!((request, attempts), (expected.clone(), vec![Ok(0), expected]));
    }
}

#[tokio::test]
async fn b59_a_missing_price_is_said_when_the_config_is_checked() {
    for (price, is_said) in [("", true), (PRICE, false)] {
        let (relay, _a) = over(Speech::Messages, Speech::Messages.good("ok"), price).await;
        let config = relay.config().to_str().unwrap().to_owned();
        let said = command(&["check", "--config", &config], "").await;
        let text = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
        assert_eq!(text.contains("its cost will be unknown"), is_said, "{text}");
    }
}
