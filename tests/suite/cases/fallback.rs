//! Errors in odd places: who answers, and what of the first rung is seen.

use super::client::{CLIENTS, Client};
use super::pair::{b_answers, only_row, over, two};
use super::speech::{SPEECHES, Speech};
use shared::{AttemptOutcome, StreamVerdict, TokenVerdict};
use tests::clock::{assert_within, ms};
use tests::relay::tried;
use tests::{Relay, Reply};

/// Who stands behind whom: one dialect, and one before the other.
const MIXES: [(Speech, Speech); 4] = [
    (Speech::Chat, Speech::Chat),
    (Speech::Messages, Speech::Chat),
    (Speech::Chat, Speech::Messages),
    (Speech::Messages, Speech::Messages),
];

/// The fixtures of errors, by who sends them, and what they are.
const ERRORS_FIRST: [(&str, Speech, &str); 2] = [
    ("B30-error-first-anthropic.sse", Speech::Messages, "overloaded"),
    // Exhausted quota is our account's fault, whatever status carried it.
    ("B30-error-first-openai.sse", Speech::Chat, "auth"),
];

#[tokio::test]
async fn b30_an_error_as_the_first_event_falls_over() {
    for (name, speech, outcome) in ERRORS_FIRST {
        for (_, b) in MIXES.into_iter().filter(|(a, _)| *a == speech) {
            for client in CLIENTS {
                let reply = Reply::fixture(name);
                let row = b_answers(client, (speech, reply), b, outcome).await;
                // Neither word is a good one; only the first is a verdict of the breaker's.
                assert_ne!(row.verdict, Some(TokenVerdict::Good), "{client:?} {name}");
            }
        }
    }
}

/// How a response ends that failed inside a 200: an event, and a status of its own.
fn failed_response() -> String {
    let failed = serde_json::json!({"type": "response.failed", "sequence_number": 3, "response": {
        "id": "resp_1", "object": "response", "status": "failed", "output": [],
        "error": {"code": "server_error", "message": "worker lost"},
    }});
    format!("event: response.failed\ndata: {failed}\n\n")
}

#[tokio::test]
async fn b30_an_error_before_the_first_token_falls_over_from_every_dialect() {
    let responses = Speech::Responses;
    let gemini = Speech::Gemini;
    for (speech, body) in [
        (Speech::Chat, Speech::Chat.error_event("worker lost")),
        (Speech::Messages, Speech::Messages.error_event("worker lost")),
        (responses, responses.preamble() + &responses.error_event("worker lost")),
        (responses, responses.preamble() + &failed_response()),
        (responses, responses.preamble() + &responses.error_event("lost") + &failed_response()),
        (gemini, gemini.error_event("worker lost")),
        // Without `data:`, as it has been seen.
        (
            gemini,
            serde_json::json!({"error": {"code": 500, "message": "worker lost",
            "status": "INTERNAL"}})
            .to_string(),
        ),
    ] {
        for client in CLIENTS {
            let reply = Reply::sse(&body);
            let row = b_answers(client, (speech, reply), Speech::Chat, "server_error").await;
            assert_eq!(row.verdict, Some(TokenVerdict::Bad), "{client:?} {body}");
        }
    }
}

#[tokio::test]
async fn b30_an_error_known_by_its_event_name_alone_falls_over() {
    for (a, b) in MIXES {
        for client in CLIENTS {
            let reply = Reply::fixture("B30-error-first-event-name-only.sse");
            let (setup, _a, _b) = two((a, reply), b).await;
            let relay = Relay::start(&setup).await;
            for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
                client.assert_good(&answer, "from B");
                let detail = relay.journaled(&answer.id()).await;
                // A bare string names no class; both readings are failures of the rung.
                let outcome = detail.attempts[0].outcome.unwrap();
                let fits = matches!(outcome, AttemptOutcome::ServerError | AttemptOutcome::Junk);
                assert!(fits, "{client:?}: {outcome:?}");
                assert_eq!(detail.attempts[0].verdict, Some(TokenVerdict::Bad));
            }
        }
    }
}

#[tokio::test]
async fn b31_a_preamble_then_an_error_leaves_nothing_of_it() {
    for (name, speech, outcome) in [
        ("B31-preamble-then-error-openai.sse", Speech::Chat, "rate_limited"),
        ("B31-preamble-then-error-anthropic.sse", Speech::Messages, "server_error"),
    ] {
        for (_, b) in MIXES.into_iter().filter(|(a, _)| *a == speech) {
            for client in CLIENTS {
                let (setup, _a, _b) = two((speech, Reply::fixture(name)), b).await;
                let relay = Relay::start(&setup).await;
                let answer = client.ask(&relay).await;
                // One beginning: the client's reader counts them. Its model is B's, and so is its
                // id, but for a client that may refer to it later.
                let said = client.assert_good(&answer, "from B");
                let (id, model) = if b == Speech::Chat { ("c-1", "m-1") } else { ("msg_1", "m-a") };
                assert_eq!(said.model, model, "{client:?}");
                let own = if client == Client::Responses { "resp_req_" } else { id };
                assert!(said.id.starts_with(own), "{client:?}: {}", said.id);
                for word in ["rate limited", "Internal"] {
                    assert!(!answer.body_text().contains(word), "{}", answer.body_text());
                }
                let detail = relay.journaled(&answer.id()).await;
                let expected = [format!("a first {outcome}"), "b failover ok".to_owned()];
                assert_eq!(tried(&detail), expected, "{client:?}");
                // The request's tokens are those of its answer, not of both attempts.
                assert_eq!(detail.request.input_tokens, Some(11));
                if speech == Speech::Messages {
                    assert_eq!(detail.attempts[0].input_tokens, Some(9), "what A said is kept");
                }
            }
        }
    }
}

#[tokio::test]
async fn b31_a_preamble_then_an_error_leaves_nothing_in_a_whole_answer() {
    for client in CLIENTS {
        let reply = Reply::fixture("B31-preamble-then-error-openai.sse");
        let (setup, _a, _b) = two((Speech::Chat, reply), Speech::Messages).await;
        let relay = Relay::start(&setup).await;
        client.assert_good(&client.ask_whole(&relay).await, "from B");
    }
}

/// What A says breaks after its text: the client is told so, and B is never asked.
async fn broken(client: Client, (speech, reply): (Speech, Reply), words: &str, outcome: &str) {
    let (setup, a, b) = two((speech, reply), Speech::Chat).await;
    let relay = Relay::start(&setup).await;
    let answer = client.ask(&relay).await;
    client.assert_broken(&answer, words);
    assert_eq!((a.count(), b.count()), (1, 0), "{client:?} {speech:?}");
    let row = only_row(&relay, &answer, outcome).await;
    assert_eq!(row.stream_verdict, Some(StreamVerdict::Bad));
    assert!(row.estimated, "nothing was said of the whole: {client:?} {speech:?}");
    a.call(0).await.over().await;
}

#[tokio::test]
async fn b32_an_error_after_text_is_told_and_nobody_else_is_asked() {
    for client in CLIENTS {
        let reply = Reply::fixture("B32-error-after-content.sse");
        broken(client, (Speech::Chat, reply), "Here is the plan", "stream_error").await;
        for speech in SPEECHES {
            let begun = speech.begins("Here is ").send(speech.text("the plan"));
            let error = speech.error_event("worker lost") + &speech.stop();
            for (reply, outcome) in
                [(begun.clone().send(error), "stream_error"), (begun.reset(), "disconnect")]
            {
                broken(client, (speech, reply), "Here is the plan", outcome).await;
            }
        }
    }
}

#[tokio::test]
async fn b32_a_response_that_fails_twice_over_is_told_once() {
    for client in CLIENTS {
        let speech = Speech::Responses;
        for error in [failed_response(), speech.error_event("worker lost") + &failed_response()] {
            let reply = speech.begins("a plan").send(error);
            broken(client, (speech, reply), "a plan", "stream_error").await;
        }
    }
}

#[tokio::test]
async fn b32_a_whole_answer_goes_on_to_the_next_rung() {
    for speech in SPEECHES {
        let error = speech.error_event("worker lost");
        let reply = speech.begins("Here is the plan").send(error);
        let (setup, _a, b) = two((speech, reply), Speech::Chat).await;
        let relay = Relay::start(&setup).await;
        for client in CLIENTS {
            client.assert_good(&client.ask_whole(&relay).await, "from B");
        }
        assert_eq!(b.count(), 3, "{speech:?}");
    }
}

#[tokio::test]
async fn b33_a_clean_end_without_a_finish_is_a_break() {
    for client in CLIENTS {
        for (name, speech, words) in [
            ("B33-eof-no-finish.sse", Speech::Chat, "cut off"),
            ("B33-anthropic-no-message-stop.sse", Speech::Messages, "cut in blo"),
        ] {
            broken(client, (speech, Reply::fixture(name)), words, "disconnect").await;
        }
        for speech in [Speech::Responses, Speech::Gemini] {
            broken(client, (speech, speech.begins("cut off")), "cut off", "disconnect").await;
        }
    }
}

#[tokio::test]
async fn b33_a_finish_without_a_terminator_is_whole() {
    let (relay, _a) = over(Speech::Chat, Reply::fixture("B33-finish-no-done.sse")).await;
    for client in CLIENTS {
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "whole");
        only_row(&relay, &answer, "ok").await;
    }
}

#[tokio::test]
async fn b33_a_terminator_without_a_finish_counts_after_content() {
    let (relay, _a) = over(Speech::Chat, Reply::fixture("B33-done-no-finish.sse")).await;
    for client in CLIENTS {
        let answer = client.ask(&relay).await;
        let said = client.read_whole(&answer);
        assert_eq!(said.text, "whole?", "{client:?}");
        // To a chat client it is delivered as it is; the others have no end without a word.
        let finish = (client != Client::Chat).then(|| client.stop());
        assert_eq!(said.finish.as_deref(), finish, "{client:?}");
        let row = only_row(&relay, &answer, "ok").await;
        assert_eq!(row.detail.as_deref(), Some("done without a finish reason"), "{client:?}");
    }
}

#[tokio::test]
async fn b35_a_400_is_passed_on_with_its_message() {
    for client in CLIENTS {
        let (setup, _a, b) =
            two((Speech::Chat, Reply::fixture("B35-400.json")), Speech::Messages).await;
        let relay = Relay::start(&setup).await;
        for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
            let error = client.assert_error(&answer, 400);
            assert_eq!(error["message"], "messages[3].content must be a string");
            if client != Client::Messages {
                assert_eq!(error["param"], "messages");
            }
            assert_eq!(only_row(&relay, &answer, "bad_request").await.verdict, None);
        }
        assert_eq!(b.count(), 0);
    }
}

#[tokio::test]
async fn b35_a_400_of_any_dialect_is_told_in_the_clients() {
    for speech in SPEECHES {
        let reply = Reply::json(400, &speech.error_body(400, "max_tokens must be positive"));
        let (setup, _a, b) = two((speech, reply), Speech::Chat).await;
        let relay = Relay::start(&setup).await;
        for client in CLIENTS {
            let error = client.assert_error(&client.ask(&relay).await, 400);
            assert_eq!(error["message"], "max_tokens must be positive", "{client:?} {speech:?}");
            assert_eq!(error["type"], "invalid_request_error", "{client:?} {speech:?}");
        }
        assert_eq!(b.count(), 0);
    }
}

#[tokio::test]
async fn b35_a_5xx_falls_over_whatever_its_body() {
    for (a, b) in MIXES {
        for (reply, outcome) in [
            (Reply::fixture("B35-529.json"), "overloaded"),
            (Reply::body(500, "text/html", "<h1>oops</h1>"), "server_error"),
            (Reply::status(502), "server_error"),
        ] {
            for client in [Client::Chat, Client::Messages] {
                b_answers(client, (a, reply.clone()), b, outcome).await;
            }
        }
    }
}

#[tokio::test]
async fn b35_what_nobody_answered_names_no_key_and_no_host() {
    for client in CLIENTS {
        for speech in SPEECHES {
            let busy = "Overloaded at http://inner.example:8080/v1?key=UPSTREAM-KEY-PLACEHOLDER-a";
            let (relay, a) = over(speech, Reply::json(529, &speech.error_body(529, busy))).await;
            for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
                client.assert_error(&answer, 503);
                let address = a.address().to_string();
                for word in ["PLACEHOLDER", "inner.example", &address] {
                    assert!(!answer.body_text().contains(word), "{}", answer.body_text());
                }
            }
        }
    }
}

#[tokio::test]
async fn b35_error_bodies_are_read_to_a_cap() {
    let long = format!("too long {}", "x".repeat(5 << 20));
    for speech in SPEECHES {
        let reply = Reply::json(400, &speech.error_body(400, &long));
        let (relay, _a) = over(speech, reply).await;
        let before = relay.memory();
        for client in CLIENTS {
            let answer = client.ask(&relay).await;
            client.assert_error(&answer, 400);
            assert!(answer.body.len() < 256 * 1024, "{} bytes of error", answer.body.len());
        }
        assert!(relay.memory().saturating_sub(before) < 16 << 20);
    }
}

#[tokio::test]
async fn b35_an_error_body_that_never_ends_does_not_hold_the_walk() {
    let endless = Reply::status(500).header("content-type", "application/json").send("{").hold();
    for client in CLIENTS {
        let (setup, _a, _b) = two((Speech::Messages, endless.clone()), Speech::Chat).await;
        let relay = Relay::start(&setup.clocks("ttft = \"800ms\"")).await;
        let answer = client.ask(&relay).await;
        client.assert_good(&answer, "from B");
        assert_within("the failover", answer.end_at, ms(1500));
    }
}
