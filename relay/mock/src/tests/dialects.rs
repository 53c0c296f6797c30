//! Each fault in the dialects besides chat, and what the mock records of them.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::Mock;
use super::client::{End, Reply, post};
use super::{ended, faulty};

/// A dialect: its path, its headers, its body, where its text stands.
struct Spoken {
    path: &'static str,
    headers: &'static [&'static str],
    body: Value,
    text: &'static str,
    prelude: u64,
}

fn all() -> [Spoken; 3] {
    let said = json!([{"role": "user", "content": "hello"}]);
    [
        Spoken {
            path: "/v1/messages",
            headers: &["x-api-key: sk-secret", "anthropic-version: 2023-06-01"],
            body: json!({"model": "m", "max_tokens": 99, "stream": true, "messages": said}),
            text: "/delta/text",
            prelude: 3,
        },
        Spoken {
            path: "/v1/responses",
            headers: &["authorization: Bearer sk-secret"],
            body: json!({"model": "m", "stream": true, "input": said}),
            text: "/delta",
            prelude: 4,
        },
        Spoken {
            path: "/v1beta/models/m:streamGenerateContent?alt=sse",
            headers: &["x-goog-api-key: sk-secret"],
            body: json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}),
            text: "/candidates/0/content/parts/0/text",
            prelude: 0,
        },
    ]
}

impl Spoken {
    async fn ask(&self, mock: &Mock) -> Reply {
        post(mock.addr(), self.path, self.headers, &self.body).await
    }

    async fn whole(&self, mock: &Mock) -> Reply {
        let mut body = self.body.clone();
        body.as_object_mut().unwrap().remove("stream");
        let path = self.path.replace(":streamGenerateContent?alt=sse", ":generateContent");
        post(mock.addr(), &path, self.headers, &body).await
    }
}

/// Whether the stream says that it is whole, or why it is not.
fn is_over(reply: &Reply) -> bool {
    let body = reply.body();
    ["message_stop", "response.completed", "finishReason", "response.failed"]
        .iter()
        .any(|word| body.contains(word))
}

#[tokio::test]
async fn it_breaks_off() {
    for spoken in all() {
        for (fault, end, word) in [
            ("stall:3", End::Open, "client_gone"),
            ("cut:3", End::Cut, "cut"),
            ("end_early:3", End::Proper, "end_early"),
        ] {
            let mock = faulty(fault).await;
            let reply = spoken.ask(&mock).await;
            assert_eq!(reply.said(spoken.text), "This is mock", "{} {fault}", spoken.path);
            assert_eq!((reply.status(), &reply.end, is_over(&reply)), (200, &end, false));
            let words = format!("{word} after {} events", spoken.prelude + 3);
            assert_eq!(ended(&mock).await, words, "{}", spoken.path);
        }
        let mock = faulty("cut:99").await;
        let reply = spoken.ask(&mock).await;
        assert_eq!(reply.said(spoken.text), "This is mock on belay: the");
        assert!(!is_over(&reply), "{}", spoken.path);
    }
}

#[tokio::test]
async fn errors_are_events_of_the_dialect() {
    for kind in ["overloaded", "server_error", "rate_limit_exceeded"] {
        let [anthropic, responses, gemini] = all();
        let mock = faulty(&format!("error_frame:2:{kind}:Too many climbers")).await;
        let reply = anthropic.ask(&mock).await;
        let (name, data) = reply.frames().pop().unwrap();
        assert_eq!((name.as_str(), &data["type"]), ("error", &json!("error")));
        assert_eq!(data["error"]["message"], "Too many climbers");
        let error = match kind {
            "overloaded" => ("overloaded_error", 503, "UNAVAILABLE"),
            "server_error" => ("api_error", 500, "INTERNAL"),
            _ => ("rate_limit_error", 429, "RESOURCE_EXHAUSTED"),
        };
        assert_eq!(data["error"]["type"], error.0);
        let frames = responses.ask(&mock).await.frames();
        let [.., (first, told), (second, failed)] = frames.as_slice() else { panic!() };
        assert_eq!((first.as_str(), second.as_str()), ("error", "response.failed"));
        assert_eq!((&told["error"]["code"], &told["sequence_number"]), (&json!(kind), &json!(6)));
        assert_eq!(failed["response"]["error"]["code"], kind);
        assert_eq!(
            (&failed["response"]["status"], &failed["sequence_number"]),
            (&json!("failed"), &json!(7))
        );
        assert_eq!(failed["response"]["id"], frames[0].1["response"]["id"]);
        let (_, data) = gemini.ask(&mock).await.frames().pop().unwrap();
        assert_eq!(
            (&data["error"]["code"], &data["error"]["status"]),
            (&json!(error.1), &json!(error.2))
        );
    }
}

#[tokio::test]
async fn statuses_have_the_dialects_body() {
    let [anthropic, responses, gemini] = all();
    let mock = faulty("status:529").await;
    let reply = anthropic.ask(&mock).await;
    assert_eq!((reply.status(), &reply.json()["error"]["type"]), (529, &json!("overloaded_error")));
    mock.set_fault(Some("status:429:7".parse().unwrap()));
    let reply = anthropic.ask(&mock).await;
    assert_eq!(
        (&reply.json()["error"]["type"], reply.header("retry-after")),
        (&json!("rate_limit_error"), Some("7"))
    );
    assert_eq!(responses.ask(&mock).await.json()["error"]["code"], "rate_limit_exceeded");
    let reply = gemini.ask(&mock).await;
    let error = reply.json()["error"].clone();
    assert_eq!(
        (&error["status"], reply.header("retry-after")),
        (&json!("RESOURCE_EXHAUSTED"), None)
    );
    let info = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"});
    assert_eq!(error["details"], json!([info]));
    mock.set_fault(Some("status:503".parse().unwrap()));
    let error = gemini.ask(&mock).await.json()["error"].clone();
    assert_eq!(
        (&error["status"], &error["details"][0]["retryDelay"]),
        (&json!("UNAVAILABLE"), &json!("20s"))
    );
    mock.set_fault(Some("context_exceeded".parse().unwrap()));
    assert!(anthropic.ask(&mock).await.body().contains("prompt is too long"));
    assert!(responses.ask(&mock).await.body().contains("context_length_exceeded"));
    assert!(gemini.ask(&mock).await.body().contains("exceeds the maximum number of tokens"));
}

#[tokio::test]
async fn the_rest_is_in_the_dialects_shape() {
    for spoken in all() {
        let mock = faulty("malformed:2").await;
        let reply = spoken.ask(&mock).await;
        let broken = reply.frames().iter().filter(|(_, data)| data.is_null()).count();
        assert_eq!((broken, reply.said(spoken.text).as_str()), (1, "This is mock on belay: the"));
        assert!(is_over(&reply));
        mock.set_fault(Some("slow_first_token:200".parse().unwrap()));
        let reply = spoken.ask(&mock).await;
        let first = usize::try_from(spoken.prelude).unwrap();
        assert!(reply.chunks[first].0 >= 200, "{}", spoken.path);
        assert!(first == 0 || reply.chunks[0].0 < 150, "{}", spoken.path);
        assert!(is_over(&reply));
        mock.set_fault(Some("keep_open".parse().unwrap()));
        let reply = spoken.ask(&mock).await;
        assert_eq!((is_over(&reply), &reply.end), (true, &End::Open));
        mock.set_fault(Some("html".parse().unwrap()));
        assert!(spoken.ask(&mock).await.body().starts_with("<!DOCTYPE html>"));
        mock.set_fault(Some("refuse".parse().unwrap()));
        let reply = spoken.ask(&mock).await;
        assert!(is_over(&reply));
        let declined = ["\"refusal\"", "SAFETY"].iter().any(|word| reply.body().contains(word));
        assert!(declined, "{}", reply.body());
    }
}

#[tokio::test]
async fn empty_streams_and_pings() {
    for (spoken, (names, finished, ping)) in all().iter().zip([
        (
            vec!["message_start", "message_stop"],
            vec!["message_start", "message_delta", "message_stop"],
            "event: ping\n",
        ),
        (
            vec!["response.completed"],
            vec!["response.created", "response.in_progress", "response.completed"],
            ": MOCK",
        ),
        (vec![], vec![""], ": MOCK"),
    ]) {
        let mock = faulty("empty_stream").await;
        assert_eq!(spoken.ask(&mock).await.names(), names);
        assert_eq!(ended(&mock).await, "done");
        mock.set_fault(Some("empty_stream:finish".parse().unwrap()));
        let reply = spoken.ask(&mock).await;
        assert_eq!(
            (reply.names(), is_over(&reply)),
            (finished.iter().map(|n| (*n).to_owned()).collect(), true)
        );
        mock.set_fault(Some("pings:20".parse().unwrap()));
        let reply = spoken.ask(&mock).await;
        let body = reply.body();
        assert!(body.starts_with(ping) && body.matches(ping).count() > 3, "{body}");
    }
}

#[tokio::test]
async fn whole_answers_break_too() {
    for spoken in all() {
        let mock = faulty("cut:3").await;
        let reply = spoken.whole(&mock).await;
        assert_eq!(reply.end, End::Cut);
        assert!(serde_json::from_str::<Value>(&reply.body()).is_err());
        mock.set_fault(Some("error_frame:1:overloaded".parse().unwrap()));
        assert!(spoken.whole(&mock).await.json()["error"].is_object());
        mock.set_fault(None);
        let reply = spoken.whole(&mock).await;
        assert!(reply.body().contains("This is mock on belay: the"), "{}", reply.body());
        assert_eq!(reply.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn words_in_the_prompt_count_in_every_dialect() {
    for mut spoken in all() {
        let mock = super::mock().await;
        let body =
            spoken.body.to_string().replace("hello", r#"[[mock {\"text\": \"as wished\"}]]"#);
        spoken.body = serde_json::from_str(&body).unwrap();
        assert_eq!(spoken.ask(&mock).await.said(spoken.text), "as wished");
        let body = body.replace(r#"{\"text\": \"as wished\"}"#, r#"\"status:503\""#);
        spoken.body = serde_json::from_str(&body).unwrap();
        assert_eq!(spoken.ask(&mock).await.status(), 503);
        let body = body.replace(r#"\"status:503\""#, "nothing");
        spoken.body = serde_json::from_str(&body).unwrap();
        assert_eq!(spoken.ask(&mock).await.status(), 400);
    }
}

#[tokio::test]
async fn records_tell_path_dialect_and_keys_and_no_secret() {
    let mock = super::mock().await;
    for spoken in all() {
        spoken.ask(&mock).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    let records = serde_json::to_value(mock.requests()).unwrap();
    assert!(!records.to_string().contains("sk-secret"));
    for (place, (path, dialect)) in [
        ("/v1/messages", "anthropic-messages"),
        ("/v1/responses", "openai-responses"),
        ("/v1beta/models/m:streamGenerateContent", "gemini"),
    ]
    .into_iter()
    .enumerate()
    {
        let record = &records[place];
        assert_eq!((&record["path"], &record["dialect"]), (&json!(path), &json!(dialect)));
        assert_eq!((&record["model"], &record["stream"]), (&json!("m"), &json!(true)));
        assert_eq!((&record["tokens"], &record["ended"]), (&json!(6), &json!("done")));
    }
    assert_eq!(records[0]["keys"], json!(["model", "max_tokens", "stream", "messages"]));
    assert_eq!(records[2]["keys"], json!(["contents"]));
}
