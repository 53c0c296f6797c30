//! The network is lost in the middle of a change.

use super::*;
use tests::tunnel::Then;
use tests::{Tunnel, Weather};

const WORDS: [&str; 6] = ["override", "a", "open", "--reason", "a hangs", "--yes"];

async fn two() -> (Relay, [Provider; 2]) {
    let (a, b) = (says("from A").await, says("from B").await);
    (Relay::start(&Setup::over(&[&a, &b]).ladder(NO_HEDGE)).await, [a, b])
}

/// How often the rung was changed.
async fn changes(relay: &Relay) -> usize {
    let answer = relay.admin_get("/admin/v1/actions?kind=change").await;
    answer.json()["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_lost_answer_is_found_by_its_id() {
    let (relay, _rungs) = two().await;
    let tunnel = Tunnel::to(relay.admin(), Weather::LosesTheAnswer(Then::Fair)).await;
    let said = Engineer::at_urls(&[tunnel.url()]).runs(&WORDS).await;
    said.ends(0).tells("broke off before it answered").tells("Looking for action act_");
    said.shows("done").shows("a: forced open by local \"a hangs\"");
    assert_eq!((tunnel.lost(), changes(&relay).await), (1, 1));
    relay.ask().await.assert_good("from B");
}

#[tokio::test]
async fn what_cannot_be_confirmed_is_said_and_the_same_id_does_it_once() {
    let (relay, _rungs) = two().await;
    let tunnel = Tunnel::to(relay.admin(), Weather::LosesTheAnswer(Then::Gone)).await;
    let engineer = Engineer::at_urls(&[tunnel.url()]);
    let said = engineer.runs(&WORDS).await;
    said.ends(3).tells("NOT CONFIRMED").tells("It may have been done").lacks("done 0");
    let id = said.action();
    said.tells(&format!("belay actions {id} --relay {}", tunnel.url()));
    relay.ask().await.assert_good("from B");

    tunnel.turns(Weather::Fair);
    engineer.runs(&["actions", &id]).await.ends(0).shows("a forced open \"a hangs\"");
    let again = [WORDS.as_slice(), &["--id", &id]].concat();
    engineer.runs(&again).await.ends(0).shows(&id);
    engineer.runs(&again).await.ends(0).shows(&id);
    assert_eq!(changes(&relay).await, 1, "once");
}

#[tokio::test]
async fn a_change_that_never_arrived_is_not_called_done() {
    let (relay, _rungs) = two().await;
    let tunnel = Tunnel::to(relay.admin(), Weather::LosesTheChange).await;
    let engineer = Engineer::at_urls(&[tunnel.url()]);
    let said = engineer.runs(&WORDS).await;
    said.ends(3).tells("NOT CONFIRMED").tells("it knows no such action");
    let id = said.action();
    assert_eq!((tunnel.lost(), changes(&relay).await), (1, 0), "never sent again by itself");
    relay.ask().await.assert_good("from A");
    engineer.runs(&["actions", &id]).await.ends(1).tells("no action");

    tunnel.turns(Weather::Fair);
    let again = [WORDS.as_slice(), &["--id", &id]].concat();
    engineer.runs(&again).await.ends(0).shows(&id);
    assert_eq!(changes(&relay).await, 1);
    relay.ask().await.assert_good("from B");
}

#[tokio::test]
async fn at_a_terminal_it_is_sent_again_only_if_somebody_says_so() {
    let (relay, _rungs) = two().await;
    let tunnel = Tunnel::to(relay.admin(), Weather::LosesTheChange).await;
    let mut session = Engineer::at_urls(&[tunnel.url()]).sits_down(80, &WORDS[..5]);
    session.until("Do it? [y/N]").await;
    session.types("y\n").await;
    session.until("Send it again, with the same id? [y/N]").await;
    assert_eq!((tunnel.lost(), changes(&relay).await), (1, 0));
    tunnel.turns(Weather::Fair);
    session.types("y\n").await;
    session.ended().await.ends(0).shows("a: forced open by local");
    assert_eq!(changes(&relay).await, 1);
}
