//! Answers that tests wish for, and the three ways to ask for them.

use serde_json::{Value, json};

use super::super::MockOptions;
use super::client::{ask, call};
use super::{mock, start, with};

fn saying(text: &str) -> Value {
    with(json!({"messages": [{"role": "user", "content": text}]}))
}

#[tokio::test]
async fn words_of_the_last_turn_count() {
    let mock = mock().await;
    let said = r#"Be quick. [[mock {"text": "a [[b]] c", "finish": "length"}]] Thanks."#;
    let reply = ask(mock.addr(), &saying(said)).await;
    assert_eq!(reply.tokens().concat(), "a [[b]] c");
    assert_eq!(reply.finish().as_deref(), Some("length"));
    let parts = json!([{"type": "text", "text": r#"[[mock "status:503"]]"#}]);
    let turn = json!({"messages": [{"role": "user", "content": parts}]});
    assert_eq!(ask(mock.addr(), &with(turn)).await.status(), 503);
    let past = json!({"messages": [
        {"role": "user", "content": said}, {"role": "assistant", "content": "a"},
        {"role": "user", "content": "go on"},
    ]});
    assert_eq!(ask(mock.addr(), &with(past)).await.tokens().len(), 6);
}

#[tokio::test]
async fn bad_instructions_are_refused() {
    let mock = mock().await;
    for said in ["[[mock {]]", "[[mock stall:3]]", "[[mock {} ", r#"[[mock {"txt":"a"}]]"#] {
        assert_eq!(ask(mock.addr(), &saying(said)).await.status(), 400, "{said}");
    }
    for bad in [json!({"text": 7}), json!({"calls": "two"}), json!({"finish": "end"}), json!({})] {
        assert_eq!(ask(mock.addr(), &with(json!({"x_mock": bad}))).await.status(), 400, "{bad}");
    }
}

#[tokio::test]
async fn a_standing_wish_holds_until_it_is_taken_away() {
    let mock = mock().await;
    let wish = json!({"text": "standing", "finish": "content_filter"});
    let state = call(mock.addr(), "PUT /mock/answer", &wish.to_string()).await.json();
    assert_eq!(state["answer"], wish);
    let reply = ask(mock.addr(), &saying("hello")).await;
    assert_eq!(
        (reply.tokens().concat().as_str(), reply.finish().as_deref()),
        ("standing", Some("content_filter"))
    );
    let own = ask(mock.addr(), &saying(r#"[[mock {"text": "own"}]]"#)).await;
    assert_eq!(
        (own.tokens().concat().as_str(), own.finish().as_deref()),
        ("own", Some("content_filter"))
    );
    assert_eq!(call(mock.addr(), "PUT /mock/answer", r#"{"words":1}"#).await.status(), 400);
    let state = call(mock.addr(), "DELETE /mock/answer", "").await.json();
    assert_eq!(state.get("answer"), None);
    assert_eq!(ask(mock.addr(), &saying("hello")).await.tokens().len(), 6);
    mock.set_answer(super::super::Wish::from_json(wish).unwrap());
    call(mock.addr(), "POST /mock/reset", "").await;
    assert_eq!(ask(mock.addr(), &saying("hello")).await.tokens().len(), 6);
}

#[tokio::test]
async fn a_wish_may_name_its_mock_and_come_with_a_fault() {
    let mock = start(MockOptions { name: "left".into(), ..MockOptions::default() }).await;
    let at = |name: &str| with(json!({"x_mock": {"text": "mine", "at": name}}));
    assert_eq!(ask(mock.addr(), &at("left")).await.tokens().concat(), "mine");
    assert_eq!(ask(mock.addr(), &at("right")).await.tokens().len(), 6);
    let both = with(json!({"x_mock": {"text": "one two three", "fault": "end_early", "after": 2}}));
    let reply = ask(mock.addr(), &both).await;
    assert_eq!((reply.tokens().concat().as_str(), reply.finish()), ("one two", None));
}

#[tokio::test]
async fn calls_and_reasoning_are_given_word_by_word() {
    let mock = mock().await;
    let calls = json!([{"name": "climb", "arguments": {"wall": "north"}}, {"name": "climb"}]);
    let wish = json!({"calls": calls, "reasoning": "Which one?", "cached_tokens": 40});
    let whole = ask(mock.addr(), &with(json!({"stream": false, "x_mock": wish}))).await.json();
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["reasoning_content"], "Which one?");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"wall":"north"}"#);
    assert_eq!(message["tool_calls"][1]["function"]["arguments"], "{}");
    assert_eq!(whole["usage"]["prompt_tokens_details"]["cached_tokens"], 40);
    let none = json!({"reasoning_effort": "high", "stream": false, "x_mock": {"reasoning": false}});
    let message = ask(mock.addr(), &with(none)).await.json()["choices"][0]["message"].clone();
    assert_eq!(message.get("reasoning_content"), None);
}
