//! Faults on answers in one piece.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{End, Reply, watch};
use super::{faulty, with};

async fn whole(fault: &str) -> Reply {
    let mock = faulty(fault).await;
    watch(mock.addr(), &with(json!({"stream": false})), Duration::from_millis(400)).await
}

fn readable(reply: &Reply) -> bool {
    serde_json::from_str::<Value>(&reply.body()).is_ok()
}

#[tokio::test]
async fn it_is_late() {
    let reply = whole("delay_head:200").await;
    assert!(reply.chunks[0].0 >= 200 && readable(&reply));
    let reply = whole("slow_first_token:200").await;
    assert!(reply.chunks[0].0 >= 200 && readable(&reply));
    assert_eq!(whole("slow_first_token:5000").await.status(), 200);
    assert_eq!(whole("hang").await.head, "");
}

#[tokio::test]
async fn it_breaks_off() {
    for (fault, end) in [
        ("stall:3", End::Open),
        ("cut:3", End::Cut),
        ("cut:99", End::Cut),
        ("end_early:3", End::Proper),
    ] {
        let reply = whole(fault).await;
        assert_eq!((reply.status(), &reply.end), (200, &end), "{fault}");
        assert!(reply.body().starts_with("{\"id\"") && !readable(&reply), "{fault}");
    }
}

#[tokio::test]
async fn it_is_something_else() {
    assert_eq!(whole("error_frame:3:overloaded").await.json()["error"]["code"], "overloaded");
    assert_eq!(whole("empty_stream").await.body(), "");
    assert_eq!(whole("empty_stream:finish").await.json()["choices"][0]["message"]["content"], "");
    let refused = whole("refuse").await.json()["choices"][0]["message"].clone();
    assert_eq!((&refused["content"], refused["refusal"].is_string()), (&Value::Null, true));
    let malformed = whole("malformed:2").await;
    assert!(!readable(&malformed) && malformed.end == End::Proper);
    let pings = whole("pings:20").await;
    assert!(pings.body().len() > 3 && pings.body().trim().is_empty());
    let open = whole("keep_open").await;
    assert!(readable(&open) && open.end == End::Open);
}
