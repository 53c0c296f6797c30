//! A relay between clients and providers of any dialect.

use super::client::Client;
use super::speech::Speech;
use shared::admin::AttemptRow;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup};

/// A relay over one provider of this dialect.
pub(super) async fn over(speech: Speech, reply: Reply) -> (Relay, Provider) {
    let a = Provider::always(reply).await;
    let setup = Setup::over(&[&a]).dialect("a", speech.dialect());
    (Relay::start(&setup).await, a)
}

/// As [`over`], with these clocks.
pub(super) async fn over_clocks(speech: Speech, reply: Reply, clocks: &str) -> (Relay, Provider) {
    let a = Provider::always(reply).await;
    let setup = Setup::over(&[&a]).dialect("a", speech.dialect()).clocks(clocks);
    (Relay::start(&setup).await, a)
}

/// As [`over`], with this line in the rung.
pub(super) async fn over_priced(speech: Speech, reply: Reply, price: &str) -> (Relay, Provider) {
    let a = Provider::always(reply).await;
    let setup = Setup::over(&[&a]).dialect("a", speech.dialect()).rung("a", price);
    (Relay::start(&setup).await, a)
}

/// A ladder of two: A says `reply`, B a good answer with the text `from B`.
pub(super) async fn two(a: (Speech, Reply), b: Speech) -> (Setup, Provider, Provider) {
    let (speech, reply) = a;
    let a = Provider::always(reply).await;
    let b_provider = Provider::always(b.good("from B")).await;
    let setup =
        Setup::over(&[&a, &b_provider]).dialect("a", speech.dialect()).dialect("b", b.dialect());
    (setup, a, b_provider)
}

/// B answers this client, streaming and not, and nothing of A is seen; gives A's row of
/// the stream.
pub(super) async fn b_answers(
    client: Client,
    (speech, reply): (Speech, Reply),
    b: Speech,
    outcome: &str,
) -> AttemptRow {
    let mut rows = Vec::new();
    for is_stream in [true, false] {
        // A rung that was refused for its key stays out of the next walk.
        let (setup, _a, _b) = two((speech, reply.clone()), b).await;
        let relay = Relay::start(&setup).await;
        let answer =
            if is_stream { client.ask(&relay).await } else { client.ask_whole(&relay).await };
        client.assert_good(&answer, "from B");
        let detail = relay.journaled(&answer.id()).await;
        let expected = [format!("a first {outcome}"), "b failover ok".to_owned()];
        assert_eq!(tried(&detail), expected, "{client:?} from {speech:?}");
        rows.push(detail.attempts[0].clone());
    }
    rows.swap_remove(0)
}

/// The only attempt of an answer's request, which must have ended like this.
pub(super) async fn only_row(relay: &Relay, answer: &Answer, outcome: &str) -> AttemptRow {
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), [format!("a first {outcome}")]);
    detail.attempts[0].clone()
}
