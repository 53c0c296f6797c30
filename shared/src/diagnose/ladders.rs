//! What users experience, and what it costs.

use super::{Level, Rule, Trouble, is_out, names, rung};
use crate::admin::{Board, LadderState};
use crate::figures::{per_hour, percent, rate, share, wait};
use crate::{
    OrderSource, OverrideMode, PassedOver,
    admin::board::{Step, Users},
};

/// How many failed or broken requests in a minute are reported, whatever their share.
const FAILED: u64 = 3;
/// The share of failed or broken requests that is reported.
const FAILED_SHARE: f64 = 0.01;
/// The share of late answers that is reported.
const LATE_SHARE: f64 = 0.2;
/// The share of clients that left before a token that is reported.
const GONE_SHARE: f64 = 0.05;
/// With fewer requests than this, a share of late or gone ones says nothing.
const FEW: u64 = 5;
/// The cost from which a ladder that is usually free is reported, in nano-dollars a second: a cent
/// an hour.
const NOT_FREE: u64 = 2_778;
/// How much more than usual a ladder costs at least before that is reported, in nano-dollars a
/// second: half a dollar an hour.
const DEARER: u64 = 138_889;
/// A wait for a first token that users notice, in milliseconds.
const LONG_WAIT: u64 = 15_000;

/// Ladders whose users get errors, broken or late answers, or leave before a token.
pub(super) fn users(board: &Board) -> Vec<Trouble> {
    let mut found: Vec<(u64, Trouble)> = board.ladders.iter().filter_map(users_of).collect();
    // The ladder with the most affected users first.
    found.sort_by_key(|(hurt, _)| std::cmp::Reverse(*hurt));
    found.into_iter().map(|(_, line)| line).collect()
}

fn users_of(ladder: &LadderState) -> Option<(u64, Trouble)> {
    let users = &ladder.users;
    let lost = users.failed + users.broken;
    let all = users.ok + lost + users.gone;
    let over = |part: u64, limit: f64| share(part, all).is_some_and(|found| found >= limit);
    let mut said = Vec::new();
    let mut level = Level::Warning;
    if lost > 0 && (lost >= FAILED || over(lost, FAILED_SHARE)) {
        level = Level::Broken;
        if users.failed > 0 {
            let of = percent(share(users.failed, all));
            said.push(format!("{} of {all} failed ({of})", users.failed));
        }
        if users.broken > 0 {
            said.push(format!("{} broken in mid-stream", users.broken));
        }
    }
    if all >= FEW && over(users.late, LATE_SHARE) {
        let of = percent(share(users.late, all));
        said.push(format!("{of} late, after {}", wait(users.late_ms)));
    }
    if all >= FEW && over(users.gone, GONE_SHARE) {
        said.push(format!("{} left before a token", users.gone));
    }
    if let Some(oldest) = users.oldest_wait_ms.filter(|oldest| *oldest >= LONG_WAIT) {
        said.push(format!("{} waiting, the oldest for {}", users.waiting, wait(Some(oldest))));
    }
    if said.is_empty() {
        return None;
    }
    let usual = ladder.usual.as_ref().and_then(|usual| usual.ttft_p95_ms);
    let usual = usual.map(|usual| format!(" (usual {})", wait(Some(usual)))).unwrap_or_default();
    let p95 = wait(users.ttft_p95_ms);
    let text = format!("{} users: {}; first token p95 {p95}{usual}", ladder.name, said.join(", "));
    let line = Trouble { level, rule: Rule::Users, about: vec![ladder.name.clone()], text };
    Some((lost * 10 + users.late + users.gone, line))
}

/// Ladders without a usable rung, or on a last resort.
pub(super) fn without_rung(board: &Board) -> Vec<Trouble> {
    let mut found = Vec::new();
    for ladder in &board.ladders {
        let rungs: Vec<_> = ladder.order.iter().filter_map(|name| rung(board, name)).collect();
        let none = !rungs.is_empty() && rungs.iter().all(|rung| is_out(rung, board.at));
        let resorts = ladder.users.last_resort;
        let text = if none {
            let hands = rungs.iter().filter_map(|rung| rung.forced.as_ref());
            let hands = hands.filter(|hand| hand.mode == OverrideMode::ForcedOpen).count();
            let hands =
                if hands > 0 { format!(", {hands} of them by hand") } else { String::new() };
            format!("{}: no usable rung, all {} are out{hands}", ladder.name, rungs.len())
        } else if resorts > 0 {
            format!("{}: {resorts} requests in 60 s had nobody but a last resort", ladder.name)
        } else {
            continue;
        };
        let about = vec![ladder.name.clone()];
        found.push(Trouble { level: Level::Broken, rule: Rule::NoRung, about, text });
    }
    found
}

/// Ladders that cost twice the usual, or are no longer free, with the cause that moved most:
/// traffic, which rung answers, or what a request costs.
pub(super) fn spend(board: &Board) -> Vec<Trouble> {
    let mut found = Vec::new();
    for ladder in &board.ladders {
        let cost = ladder.users.cost_nps;
        let Some(usually) = ladder.usual.as_ref() else { continue };
        let usual = usually.cost_nps;
        // If a ladder usually has no requests, its usual cost of 0 does not mean that it is free.
        let is_free = usual == 0 && usually.ok > 0;
        let limit = if is_free { NOT_FREE } else { usual.saturating_mul(2).max(usual + DEARER) };
        if usual == 0 && !is_free || cost < limit {
            continue;
        }
        let text = format!(
            "{} spends {} (usual {}): {}",
            ladder.name,
            per_hour(cost),
            per_hour(usual),
            dearer_by(ladder, usually)
        );
        let about = vec![ladder.name.clone()];
        found.push(Trouble { level: Level::Warning, rule: Rule::Spend, about, text });
    }
    found
}

/// Why a ladder costs more than usual, in words.
fn dearer_by(ladder: &LadderState, usually: &Users) -> String {
    let ratio = |now: f64, usual: f64| if usual > 0.0 { now / usual } else { 1.0 };
    let traffic = ratio(ladder.users.rps, usually.rps);
    #[expect(clippy::cast_precision_loss, reason = "a ratio of costs")]
    let total = ratio(ladder.users.cost_nps as f64, usually.cost_nps as f64);
    let per_request = total / traffic.max(f64::MIN_POSITIVE);
    if traffic >= 1.5 && traffic >= per_request {
        let (now, usual) = (rate(ladder.users.rps), rate(usually.rps));
        return format!("traffic is {traffic:.1} × the usual ({now}, usual {usual})");
    }
    let up = ladder.steps.iter().max_by_key(|step| moved(step)).filter(|step| moved(step) >= 50);
    let Some(up) = up else {
        return format!("a request costs {per_request:.1} × the usual");
    };
    let (now, then) = (percent(up.share), percent(up.usual_share));
    let mut text = format!("{} carries {now} (usual {then})", up.rung);
    if let Some(step) = ladder.steps.iter().min_by_key(|step| moved(step))
        && moved(step) < 0
        && let Some((why, _)) = step.passed.iter().max_by_key(|(_, count)| **count)
    {
        text += &format!("; {} is passed over: {}", step.rung, passed(*why));
    } else if ladder.source != OrderSource::Config {
        text += &format!("; its order is off the config{}", super::by(ladder.by.as_deref(), None));
    }
    text
}

/// By how much a step's share differs from the usual one, in thousandths.
fn moved(step: &Step) -> i64 {
    let moved = step.share.unwrap_or(0.0) - step.usual_share.unwrap_or(0.0);
    #[expect(clippy::cast_possible_truncation, reason = "a share is within 0..1")]
    let moved = (moved * 1000.0) as i64;
    moved
}

/// Why a rung is passed over, in words.
fn passed(why: PassedOver) -> &'static str {
    match why {
        PassedOver::Open => "open",
        PassedOver::Hold => "held",
        PassedOver::Forced => "forced open by hand",
        PassedOver::NoSlot => "half-open, its probe slot is taken",
        PassedOver::Capability => "it lacks what is asked for",
        PassedOver::Dialect => "its dialect has no words for what is asked",
        PassedOver::Context | PassedOver::MaxOutput => "too small",
    }
}

/// Budgets below a quarter of their capacity.
pub(super) fn budgets(board: &Board) -> Vec<Trouble> {
    let mut found = Vec::new();
    for ladder in &board.ladders {
        let budget = &ladder.budget;
        let low: Vec<_> = [("hedge", &budget.hedge), ("retry", &budget.retry)]
            .into_iter()
            .filter(|(_, bucket)| bucket.cap > 0.0 && bucket.level * 4.0 < bucket.cap)
            .collect();
        if low.is_empty() {
            continue;
        }
        let words: Vec<_> = low.iter().map(|(name, _)| *name).collect();
        let figures: Vec<_> = low
            .iter()
            .map(|(_, b)| {
                format!("{:.0} of {:.0} left, {} refused in 60 s", b.level, b.cap, b.refused_1m)
            })
            .collect();
        let text = format!("{}: {} budget low: {}", ladder.name, names(&words), figures.join("; "));
        let about = vec![ladder.name.clone()];
        found.push(Trouble { level: Level::Warning, rule: Rule::Budget, about, text });
    }
    found
}
