//! Every row of the outcome table (`policy/table.rs`), on real sockets: where
//! the walk goes, what the client is told, what the journal says.

mod account;
mod aggregate;
mod broken_stream;
mod busy;
mod cancelled;
mod good;
mod rank;
mod server;
mod side_effects;
mod silence;
mod walk;
mod wrong_request;

use serde_json::Value;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup};

/// What a rung-one failure should lead to.
struct Row {
    name: &'static str,
    reply: Reply,
    outcome: &'static str,
    /// Whether the next rung is called.
    next: bool,
    /// What the client is told where it is the only rung.
    alone: u16,
    /// How often a lone rung is called: retries default to 1 there.
    calls_alone: usize,
}

impl Row {
    /// A failure that sends the walk on to the next rung; alone, it is retried once.
    fn retried(name: &'static str, reply: Reply, outcome: &'static str, alone: u16) -> Self {
        Self { name, reply, outcome, next: true, alone, calls_alone: 2 }
    }

    /// A failure that sends the walk on to the next rung and is never repeated on its own.
    fn moved_on(name: &'static str, reply: Reply, outcome: &'static str, alone: u16) -> Self {
        Self { name, reply, outcome, next: true, alone, calls_alone: 1 }
    }

    /// A failure that is the client's own: no other rung is asked.
    fn terminal(name: &'static str, reply: Reply, outcome: &'static str, alone: u16) -> Self {
        Self { name, reply, outcome, next: false, alone, calls_alone: 1 }
    }

    /// Checks the row with a healthy second rung, then alone; gives the lone rung's answer.
    async fn check(self) -> Answer {
        self.check_before_another().await;
        self.check_alone().await
    }

    async fn check_before_another(&self) {
        let name = self.name;
        let a = Provider::always(self.reply.clone()).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b])).await;
        let answer = relay.ask().await;
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(a.count(), 1, "{name}: the first rung is called once");
        if self.next {
            answer.assert_good("from B");
            assert_eq!(b.count(), 1, "{name}");
            assert_eq!(
                tried(&detail),
                [format!("a first {}", self.outcome), "b failover ok".to_owned()],
                "{name}"
            );
        } else {
            answer.assert_error(self.alone);
            assert_eq!(b.count(), 0, "{name}: the second rung is not called");
            assert_eq!(tried(&detail), [format!("a first {}", self.outcome)], "{name}");
        }
    }

    async fn check_alone(self) -> Answer {
        let name = self.name;
        let a = Provider::always(self.reply).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.ask().await;
        let error = answer.assert_error(self.alone);
        let message = error["message"].as_str().unwrap_or_default();
        assert!(!message.contains("127.0.0.1"), "{name}: no address in {message:?}");
        assert_eq!(a.count(), self.calls_alone, "{name}: calls of a lone rung");
        let one = format!("a {}", self.outcome);
        assert!(answer.tried().iter().all(|tried| *tried == one), "{name}: {:?}", answer.tried());
        let detail = relay.journaled(&answer.id()).await;
        let outcomes: Vec<&str> =
            detail.attempts.iter().map(|one| one.outcome.unwrap().as_str()).collect();
        assert_eq!(outcomes, vec![self.outcome; self.calls_alone], "{name}");
        assert_eq!(detail.request.status, Some(self.alone), "{name}");
        answer
    }
}

/// The `belay` key of an answer's error.
fn belay(answer: &Answer) -> Value {
    answer.error_object().expect("an error")["belay"].clone()
}
