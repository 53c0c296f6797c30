//! A losing probe that goes on in the background.
//!
//! Its request has its answer from another rung; the breaker still waits for
//! this one's first token, its end or its hard clock.

use super::attempt_io::AttemptIo;
use super::failed::Quotable;
use super::hub::Hub;
use super::stalls::{Pause, Pauses};
use crate::wall;
use policy::Probe;
use shared::OverrideMode;
use std::sync::Arc;

/// Lets `line` run until `probe` has learned what it wanted; then its call is closed.
pub(super) fn run(relay: &Arc<Hub>, mut probe: Probe, mut io: AttemptIo) {
    let relay = Arc::clone(relay);
    let mut signals = relay.signals.subscribe();
    let mut pauses = Pauses::from(wall::now());
    tokio::spawn(async move {
        loop {
            let due = wall::instant(probe.next_deadline());
            let news = std::future::poll_fn(|cx| io.poll_news(cx, None, &Quotable::Gone));
            let news = tokio::select! {
                news = tokio::time::timeout_at(due, news) => news,
                Ok(()) = signals.changed() => {
                    if is_cut(&relay, &mut probe) {
                        return;
                    }
                    continue;
                }
            };
            let now = wall::now();
            if let Some(Pause { span, until }) = pauses.since(now) {
                probe.skip(span, until);
            }
            if news.as_ref().is_ok_and(|news| news.sent) {
                probe.sent(now);
            }
            let request = Some(io.log.start.request);
            let done = relay.with_board_of(now, request, |board| match news {
                Ok(news) if news.token.is_some() => {
                    probe.token(now, board);
                    true
                }
                Ok(news) => news.ended.is_some_and(|ending| {
                    probe.ended(now, &ending, board);
                    true
                }),
                Err(_due) => probe.wake(now, board),
            });
            if done {
                if let Some(verdict) = probe.verdict() {
                    relay.metrics.detached_verdict(&io.rung.name, verdict);
                }
                return;
            }
        }
    });
}

/// Whether an operator has forced its rung open: then it is called no more.
fn is_cut(relay: &Hub, probe: &mut Probe) -> bool {
    let (now, rung) = (wall::now(), probe.rung());
    relay.with_board(now, |board| {
        let forced =
            board.forced(rung, now).is_some_and(|(mode, _)| mode == OverrideMode::ForcedOpen);
        if forced {
            probe.cut(now, board);
        }
        forced
    })
}
