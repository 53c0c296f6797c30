//! How many tokens a prompt has, asked of a provider that counts them.
//!
//! Outside all traffic: it is free, gives no verdict, and is not journaled. Who asks has an
//! estimate to fall back on, so one provider is asked, once, and not for long.

use super::composing::is_large;
use super::hub::Hub;
use super::in_force::{InForce, Ladder};
use super::work_pool::WorkPool;
use crate::provider::{Ask, CallEvent};
use crate::wall;
use bytes::Bytes;
use dialect::request::ClientRequest;
use http::HeaderMap;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// Counting is quick, or not worth the wait.
const PATIENCE: Duration = Duration::from_secs(3);
/// A count is a few bytes.
const MOST: usize = 64 * 1024;

#[derive(Deserialize)]
struct Count {
    #[serde(rename = "input_tokens")]
    _input_tokens: u64,
}

/// The answer of the first usable rung that can count; `None` without one.
pub async fn count_tokens(
    hub: &Hub,
    in_force: &InForce,
    ladder: &Ladder,
    request: &Arc<ClientRequest>,
    along: &HeaderMap,
) -> Option<Bytes> {
    let now = wall::now();
    let dialect = dialect::table::owner(request.endpoint());
    let rungs = ladder.spec.rungs.iter().filter_map(|rung| in_force.rung(*rung));
    let mut counting = rungs.filter(|rung| Some(rung.provider.dialect()) == dialect);
    let rung =
        counting.find(|rung| hub.with_board(now, |board| board.usable(rung.index, now).is_ok()))?;
    let size = request.size();
    let body = if is_large(size) {
        let (request, rung) = (Arc::clone(request), Arc::clone(rung));
        WorkPool::Bulk.run(size, move || request.for_model(&rung.model)).await.ok()?
    } else {
        request.for_model(&rung.model)
    };
    let mut call = rung.provider.call(Ask {
        model: &rung.model,
        endpoint: request.endpoint(),
        body: body.into(),
        along,
        max_answer: MOST,
        once: false,
    });
    let said = std::future::poll_fn(|cx| call.poll_event(cx));
    match tokio::time::timeout(PATIENCE, said).await {
        Ok(CallEvent::Whole(body)) => {
            serde_json::from_slice::<Count>(&body).is_ok().then_some(body)
        }
        _ => None,
    }
}
