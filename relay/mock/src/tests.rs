//! The mock over real sockets: what it sends when it is well, and that each fault does what its
//! name says.

mod answers;
mod chat;
mod client;
mod control;
mod dialects;
mod faults;
mod gemini;
mod messages;
mod responses;
mod spec;
mod whole;
mod wishes;

use std::time::Duration;

use serde_json::{Value, json};

use super::{FaultSpec, Mock, MockOptions};

/// A quick mock.
async fn mock() -> Mock {
    start(MockOptions::default()).await
}

async fn start(options: MockOptions) -> Mock {
    let (ttft, gap) = (Duration::from_millis(2), Duration::from_millis(2));
    Mock::start(MockOptions { ttft, gap, tokens: 6, ..options }).await.unwrap()
}

async fn faulty(fault: &str) -> Mock {
    let fault: FaultSpec = fault.parse().unwrap();
    start(MockOptions { fault: Some(fault), ..MockOptions::default() }).await
}

fn question() -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hello"}]})
}

/// The question with these fields set.
fn with(fields: Value) -> Value {
    let mut question = question();
    for (key, value) in fields.as_object().unwrap() {
        question[key] = value.clone();
    }
    question
}

/// Waits until the last request has ended, and returns how it ended.
async fn ended(mock: &Mock) -> String {
    for _ in 0..200 {
        if let Some(ended) = mock.requests().pop().and_then(|record| record.ended) {
            return ended;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("still open: {:?}", mock.requests().pop());
}
