//! Several relays' boards as one: for each rung the worst state and how many have it; counts
//! add, histograms merge, and a percentile is read from the merged one, never averaged.

use super::watched::WatchedRelay;
use shared::admin::board::{Bucket, LadderSpark, RungNow, RungSpark, Step, Users};
use shared::admin::{Board, LadderState, RungState};
use shared::diagnose::{is_failing, is_held};
use shared::histogram::Hist;
use shared::{BreakerState, OverrideMode, UnixMillis};
use std::collections::BTreeMap;
use std::time::Duration;

/// Of the relays that know a rung: how many of them have it in its worst state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread {
    /// Relays in that state.
    pub worst: u32,
    /// Relays that know it.
    pub of: u32,
}

/// The boards of a view as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The board.
    pub board: Board,
    /// By rung.
    pub spread: BTreeMap<String, Spread>,
    /// The relay whose clock, config and orders it has.
    pub lead: usize,
    /// Ladders whose orders are not the same on all of them.
    pub differ: Vec<String>,
}

/// How bad a rung's state is; the higher, the worse. States of the same rank look the same.
#[must_use]
pub fn rank(rung: &RungState, now: UnixMillis) -> u8 {
    let health = &rung.health;
    match rung.forced.as_ref().map(|forced| forced.mode.known()) {
        Some(Some(OverrideMode::ForcedOpen)) => return 10,
        Some(Some(OverrideMode::ForcedClosed)) => return 9,
        Some(_) => return 8,
        None => {}
    }
    match health.state.known() {
        _ if health.hard_down.is_some() => 7,
        Some(BreakerState::Open) => 6,
        _ if is_held(rung, now) => 5,
        Some(BreakerState::HalfOpen) => 4,
        _ if health.weight < 1.0 => 3,
        _ if is_failing(rung) => 2,
        _ => 1,
    }
}

/// The boards of `viewed` as one: of those with news, or where none has any of all.
/// `None`: no board is known.
#[must_use]
pub fn merge(relays: &[WatchedRelay], viewed: &[usize], now: i64) -> Option<Merged> {
    let known = |index: &usize| Some((*index, relays.get(*index)?));
    let all: Vec<(usize, &WatchedRelay)> = viewed.iter().filter_map(known).collect();
    let fresh: Vec<_> = all.iter().copied().filter(|(_, it)| !it.is_stale(now)).collect();
    let chosen = if fresh.is_empty() { all } else { fresh };
    let board =
        |(index, it): (usize, &'_ WatchedRelay)| it.board.clone().map(|board| (index, board));
    let mut boards = chosen.into_iter().filter_map(board);
    let (lead, mut sum) = boards.next()?;
    let first = |rung: &RungState| (rung.name.clone(), Spread { worst: 1, of: 1 });
    let mut spread: BTreeMap<String, Spread> = sum.rungs.iter().map(first).collect();
    let (mut differ, mut several) = (Vec::new(), false);
    for (_, board) in boards {
        several = true;
        sum.relay.streams += board.relay.streams;
        sum.relay.waiting += board.relay.waiting;
        for rung in board.rungs {
            let at = board.at;
            add_rung(&mut sum.rungs, rung, sum.at, at, &mut spread);
        }
        for ladder in board.ladders {
            add_ladder(&mut sum.ladders, ladder, &mut differ);
        }
        for provider in board.providers {
            if sum.providers.iter().all(|known| known.name != provider.name) {
                sum.providers.push(provider);
            }
        }
    }
    if several {
        sum.rungs.iter_mut().for_each(|rung| quantiles(&mut rung.now));
        for ladder in &mut sum.ladders {
            (ladder.users.ttft_p50_ms, ladder.users.ttft_p95_ms) = two(&ladder.users.hist);
        }
    }
    Some(Merged { board: sum, spread, lead, differ })
}

fn add_rung(
    all: &mut Vec<RungState>,
    rung: RungState,
    ours: UnixMillis,
    theirs: UnixMillis,
    spread: &mut BTreeMap<String, Spread>,
) {
    let count = spread.entry(rung.name.clone()).or_default();
    count.of += 1;
    let Some(known) = all.iter_mut().find(|known| known.name == rung.name) else {
        count.worst = 1;
        all.push(rung);
        return;
    };
    let (here, there) = (rank(known, ours), rank(&rung, theirs));
    let mut rest = rung;
    match there.cmp(&here) {
        std::cmp::Ordering::Greater => {
            count.worst = 1;
            // The state is the worst one's; counts are everybody's.
            std::mem::swap(known, &mut rest);
        }
        std::cmp::Ordering::Equal => {
            count.worst += 1;
            let since = |rung: &RungState| rung.health.sick_since_at;
            let first = since(known).into_iter().chain(since(&rest)).min();
            known.health.sick_since_at = first;
        }
        std::cmp::Ordering::Less => {}
    }
    add_now(&mut known.now, &rest.now);
    let (past, other) = (&mut known.past, rest.past);
    past.last_ok_at = past.last_ok_at.max(other.last_ok_at);
    if other.last_fault.as_ref().map(|fault| fault.at) > past.last_fault.as_ref().map(|f| f.at) {
        past.last_fault = other.last_fault;
    }
    // The busiest seconds need not be the same one: their sum is nobody's.
    past.peak_rps_24h = None;
    past.usual = match (past.usual.take(), other.usual) {
        (Some(mut a), Some(b)) => {
            a.rps = some_sum(a.rps, b.rps, |a, b| a + b);
            a.cost_nps = some_sum(a.cost_nps, b.cost_nps, |a, b| a + b);
            a.ttft_p95_ms = a.ttft_p95_ms.max(b.ttft_p95_ms);
            a.bad = some_sum(a.bad, b.bad, f64::max);
            Some(a)
        }
        // What is usual for one of them is not usual for both.
        _ => None,
    };
    past.spark = match (past.spark.take(), other.spark) {
        (Some(a), Some(b)) => Some(add_curve(a, &b)),
        (a, b) => a.or(b),
    };
    if let (Some(forced), Some(other)) = (&mut known.forced, &rest.forced) {
        forced.draining += other.draining;
    }
}

fn some_sum<T>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (a, b) => a.or(b),
    }
}

fn add_now(sum: &mut RungNow, other: &RungNow) {
    sum.calls += other.calls;
    sum.good += other.good;
    sum.slow += other.slow;
    sum.bad += other.bad;
    sum.other += other.other;
    for (outcome, count) in &other.outcomes {
        *sum.outcomes.entry(outcome.clone()).or_default() += count;
    }
    sum.rps += other.rps;
    sum.hist.merge(&other.hist);
    sum.gap_p95_ms = sum.gap_p95_ms.max(other.gap_p95_ms);
    sum.waiting += other.waiting;
    sum.oldest_wait_ms = sum.oldest_wait_ms.max(other.oldest_wait_ms);
    sum.streaming += other.streaming;
    sum.cost_nps += other.cost_nps;
    sum.lost_nps += other.lost_nps;
    sum.mark_ms = sum.mark_ms.max(other.mark_ms);
    sum.ref_p95_ms = sum.ref_p95_ms.max(other.ref_p95_ms);
    sum.ref_n = some_sum(sum.ref_n, other.ref_n, |a, b| a + b);
}

fn quantiles(now: &mut RungNow) {
    (now.ttft_p50_ms, now.ttft_p95_ms) = two(&now.hist);
    now.ttft_at_least = now.ttft_p95_ms.is_none() && now.hist.at_least().is_some();
    if now.ttft_at_least {
        now.ttft_p95_ms = now.hist.at_least().map(millis);
    }
}

/// The median and the slowest twentieth.
#[must_use]
pub fn two(hist: &Hist) -> (Option<u64>, Option<u64>) {
    (hist.quantile(0.5).map(millis), hist.quantile(0.95).map(millis))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn add_all<T: Copy>(a: Vec<T>, b: &[T], add: impl Fn(T, T) -> T) -> Vec<T> {
    // The last steps are the same moment, however many there are.
    let skip = b.len().saturating_sub(a.len());
    let pad = a.len().saturating_sub(b.len());
    let put = |(place, value): (usize, T)| {
        let other = place.checked_sub(pad).and_then(|place| b.get(place + skip));
        other.map_or(value, |other| add(value, *other))
    };
    a.into_iter().enumerate().map(put).collect()
}

/// Of p95s the worst one's: the buckets behind them are not there to merge.
fn add_curve(a: RungSpark, b: &RungSpark) -> RungSpark {
    RungSpark {
        step_ms: a.step_ms,
        calls: add_all(a.calls, &b.calls, |a, b| a + b),
        slow: add_all(a.slow, &b.slow, |a, b| a + b),
        bad: add_all(a.bad, &b.bad, |a, b| a + b),
        p95_ms: add_all(a.p95_ms, &b.p95_ms, Ord::max),
    }
}

fn add_ladder(all: &mut Vec<LadderState>, ladder: LadderState, differ: &mut Vec<String>) {
    let Some(known) = all.iter_mut().find(|known| known.name == ladder.name) else {
        all.push(ladder);
        return;
    };
    let other = (&ladder.order, &ladder.config_order);
    if (&known.order, &known.config_order) != other && !differ.contains(&ladder.name) {
        differ.push(ladder.name.clone());
    }
    let (here, there) = (known.users.ok, ladder.users.ok);
    for step in ladder.steps {
        match known.steps.iter_mut().find(|known| known.rung == step.rung) {
            Some(known) => add_step(known, &step, here, there),
            None => known.steps.push(step),
        }
    }
    add_users(&mut known.users, &ladder.users);
    known.usual = match (known.usual.take(), ladder.usual) {
        (Some(mut a), Some(b)) => {
            add_users(&mut a, &b);
            a.ttft_p95_ms = a.ttft_p95_ms.max(b.ttft_p95_ms);
            Some(a)
        }
        _ => None,
    };
    known.spark = match (known.spark.take(), ladder.spark) {
        (Some(a), Some(b)) => Some(LadderSpark {
            step_ms: a.step_ms,
            rps: add_all(a.rps, &b.rps, |a, b| a + b),
            failed: add_all(a.failed, &b.failed, |a, b| a + b),
            p95_ms: add_all(a.p95_ms, &b.p95_ms, Ord::max),
            cost_nps: add_all(a.cost_nps, &b.cost_nps, |a, b| a + b),
        }),
        (a, b) => a.or(b),
    };
    add_bucket(&mut known.budget.hedge, &ladder.budget.hedge);
    add_bucket(&mut known.budget.retry, &ladder.budget.retry);
    let delay = &mut known.budget.hedge_delay_ms;
    *delay = (*delay).max(ladder.budget.hedge_delay_ms);
}

fn add_bucket(sum: &mut Bucket, other: &Bucket) {
    sum.level += other.level;
    sum.cap += other.cap;
    sum.refused_1m += other.refused_1m;
}

fn add_users(sum: &mut Users, other: &Users) {
    sum.rps += other.rps;
    sum.ok += other.ok;
    sum.failed += other.failed;
    sum.broken += other.broken;
    sum.late += other.late;
    sum.late_ms = sum.late_ms.max(other.late_ms);
    sum.gone += other.gone;
    sum.rescued += other.rescued;
    sum.last_resort += other.last_resort;
    sum.hist.merge(&other.hist);
    sum.waiting += other.waiting;
    sum.oldest_wait_ms = sum.oldest_wait_ms.max(other.oldest_wait_ms);
    sum.streaming += other.streaming;
    sum.cost_nps += other.cost_nps;
}

/// Shares are of answers: each counts for as many as its relay gave.
fn add_step(sum: &mut Step, other: &Step, here: u64, there: u64) {
    let whole = here + there;
    let both = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) if whole > 0 => {
            Some((a * here as f64 + b * there as f64) / whole as f64)
        }
        (a, b) => a.or(b),
    };
    sum.share = both(sum.share, other.share);
    sum.first_share = both(sum.first_share, other.first_share);
    sum.usual_share = both(sum.usual_share, other.usual_share);
    sum.cost_nps += other.cost_nps;
    for (why, count) in &other.passed {
        *sum.passed.entry(*why).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::admin::sample::{self, NIGHT};
    use shared::histogram::Bucket as Count;

    fn known(name: &str, change: impl Fn(&mut Board)) -> WatchedRelay {
        let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
        board.relay.name = Some(name.to_owned());
        change(&mut board);
        let mut known = WatchedRelay::new(name);
        known.apply(
            Some(shared::admin::FeedKind::Snapshot),
            &serde_json::to_string(&board).unwrap(),
            NIGHT.0,
        );
        known
    }

    #[test]
    fn the_worst_state_is_shown_and_counted() {
        let relays = [
            known("a", |_| {}),
            known("b", |board| sample::open(&mut board.rungs[0], 60)),
            known("c", |board| sample::open(&mut board.rungs[0], 90)),
        ];
        let merged = merge(&relays, &[0, 1, 2], NIGHT.0).unwrap();
        let sol = &merged.board.rungs[0];
        assert_eq!(sol.health.state, BreakerState::Open);
        assert_eq!(sol.health.sick_since_at, Some(sample::before(90)), "the first of them");
        assert_eq!(merged.spread["sol"], Spread { worst: 2, of: 3 });
        assert_eq!(merged.spread["opus"], Spread { worst: 3, of: 3 });
        assert_eq!(sol.now.calls, 270, "only the well one had calls");
        assert_eq!(merged.board.rungs[1].now.calls, 3 * 270);
    }

    #[test]
    fn counts_add_and_percentiles_are_read_from_the_merged_buckets() {
        let with = |bucket: u16, count: u32| {
            move |board: &mut Board| {
                board.rungs[0].now.hist = Hist(vec![Count(bucket, count, 0)]);
                board.ladders[0].users.hist = Hist(vec![Count(bucket, count, 0)]);
                let p95 = u64::try_from(shared::histogram::value(bucket.into()).as_millis());
                board.rungs[0].now.ttft_p95_ms = p95.ok();
            }
        };
        // 97 quick ones here, three slow ones there: the p95 of all is quick.
        let relays = [known("a", with(50, 97)), known("b", with(200, 3))];
        let merged = merge(&relays, &[0, 1], NIGHT.0).unwrap();
        let quick = u64::try_from(shared::histogram::value(50).as_millis()).ok();
        assert_eq!(merged.board.rungs[0].now.ttft_p95_ms, quick, "not the mean of two p95s");
        assert_eq!(merged.board.ladders[0].users.ttft_p95_ms, quick);
        assert_eq!(merged.board.ladders[0].users.ok, 2 * 546);
        assert_eq!(merged.board.relay.streams, 2 * 37);
    }

    #[test]
    fn shares_weigh_as_much_as_their_relay_answered() {
        let share = |first: f64, ok: u64| {
            move |board: &mut Board| {
                sample::shares(&mut board.ladders[0], &[first, 1.0 - first]);
                board.ladders[0].users.ok = ok;
            }
        };
        let relays = [known("a", share(1.0, 300)), known("b", share(0.0, 100))];
        let merged = merge(&relays, &[0, 1], NIGHT.0).unwrap();
        let shares: Vec<_> = merged.board.ladders[0].steps.iter().map(|step| step.share).collect();
        assert_eq!(shares, [Some(0.75), Some(0.25)]);
    }

    #[test]
    fn orders_that_differ_are_named_and_old_news_is_left_out() {
        let turned = |board: &mut Board| board.ladders[0].order.reverse();
        let mut relays = [known("a", |_| {}), known("b", turned)];
        let merged = merge(&relays, &[0, 1], NIGHT.0).unwrap();
        assert_eq!(merged.differ, ["chat"]);
        assert_eq!(merged.board.ladders[0].order, ["sol", "opus"], "the first one's");
        relays[0].heard_at = Some(NIGHT.0 - 60_000);
        let merged = merge(&relays, &[0, 1], NIGHT.0).unwrap();
        assert_eq!((merged.lead, merged.differ.len()), (1, 0));
        assert_eq!(merged.board.rungs[0].now.calls, 270);
        relays[1].heard_at = Some(NIGHT.0 - 60_000);
        let old = merge(&relays, &[0, 1], NIGHT.0).unwrap();
        assert_eq!(old.board.rungs[0].now.calls, 540, "all are old: what was known of all");
        assert!(merge(&[WatchedRelay::new("x")], &[0], NIGHT.0).is_none());
    }

    #[test]
    fn curves_add_step_by_step_from_their_ends() {
        assert_eq!(add_all(vec![1, 2, 3], &[10, 20], |a, b| a + b), [1, 12, 23]);
        assert_eq!(add_all(vec![1, 2], &[10, 20, 30], |a, b| a + b), [21, 32]);
    }

    #[test]
    fn what_is_usual_for_one_of_them_is_not_usual_for_both() {
        let usual = |board: &mut Board| {
            board.rungs[0].past.usual = Some(shared::admin::board::RungUsual {
                cost_nps: Some(10),
                ..shared::admin::board::RungUsual::default()
            });
        };
        let young = |board: &mut Board| board.ladders[0].usual = None;
        let merged = merge(&[known("a", usual), known("b", young)], &[0, 1], NIGHT.0).unwrap();
        assert!(
            merged.board.ladders[0].usual.is_none(),
            "twice as dear as half of them is not dear"
        );
        assert!(merged.board.rungs[0].past.usual.is_none());
        let merged = merge(&[known("a", usual), known("b", usual)], &[0, 1], NIGHT.0).unwrap();
        let usual = merged.board.rungs[0].past.usual.as_ref().and_then(|usual| usual.cost_nps);
        assert_eq!(usual, Some(20));
    }
}
