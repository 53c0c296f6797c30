//! The script of an answer in one piece.

use std::time::Duration;

use bytes::Bytes;

use super::super::dialect::{Dialect, Turn};
use super::super::fault::Fault;
use super::super::options::MockOptions;
use super::{JSON, Script, Sent, Step, drip, ending, head_after};

/// The script of an answer in one piece; it takes as long as its stream would.
pub(super) fn script(
    dialect: &dyn Dialect,
    turn: &Turn<'_>,
    fault: Option<&Fault>,
    options: &MockOptions,
) -> Script {
    let body = match fault {
        Some(Fault::EmptyStream { finish: false }) => Bytes::new(),
        Some(Fault::ErrorFrame { kind, message, .. }) => {
            dialect.error_body(kind, message).to_string().into()
        }
        _ => dialect.whole(turn).to_string().into(),
    };
    let count = turn.answer.count();
    // As large a part of the body as this many tokens are of the answer, but never all of it.
    let part = |after: &usize| body.slice(..body.len() * (*after).min(count) / (count + 1));
    let all = |body: Bytes| Step::Send(body, Sent::Last);
    let steps = match fault {
        Some(Fault::SlowFirstToken { ms }) => {
            [Step::Wait(Duration::from_millis(*ms)), all(body)].into()
        }
        Some(Fault::Stall { after }) => {
            [Step::Send(part(after), Sent::Bytes), Step::Silence].into()
        }
        Some(Fault::Cut { after }) => [Step::Send(part(after), Sent::Bytes), Step::Break].into(),
        Some(Fault::EndEarly { after }) => [Step::Send(part(after), Sent::Bytes)].into(),
        Some(Fault::Malformed { after }) => {
            let part = part(after);
            let rest = body.slice(part.len()..);
            let broken = Bytes::from_static(b"\"{,");
            [Step::Send(part, Sent::Bytes), Step::Send(broken, Sent::Bytes), all(rest)].into()
        }
        Some(Fault::Pings { ms }) => [Step::Repeat(b"\n", Duration::from_millis(*ms))].into(),
        Some(Fault::KeepOpen {}) => [all(body), Step::Silence].into(),
        _ => [all(body)].into(),
    };
    let gaps = u32::try_from(count).unwrap_or(u32::MAX);
    let usual = options.ttft.saturating_add(options.gap.saturating_mul(gaps));
    Script {
        head_after: Some(head_after(fault, usual)),
        drip: drip(fault),
        ended: ending(fault),
        ..Script::new(JSON, steps)
    }
}
