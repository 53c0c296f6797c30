//! A rung's cell: its shape, its word and how it is filled; the highest that holds.
//!
//! The three fills differ in kind, not only in hue: nothing for well, a tint for a warning,
//! a block for what is broken, an outline for an operator's hand, dashes for no news.

use crate::model::Spread;
use crate::words;
use shared::admin::board::Step;
use shared::admin::{LadderState, RungState};
use shared::diagnose::{is_failing, is_held};
use shared::figures::{countdown, percent, share, wait};
use shared::{BreakerState, OverrideMode, UnixMillis, Word};

/// How a cell is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Not at all.
    None,
    /// A tint: look at it.
    Tint,
    /// A block: broken.
    Block,
    /// An outline: an operator's hand.
    Outline,
    /// A dashed outline: nobody knows.
    Dashed,
}

/// What a cell says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// How it is filled.
    pub fill: Fill,
    /// Shape and name.
    pub head: String,
    /// The state in a word, and what goes with it.
    pub second: String,
    /// Why, or the curve.
    pub third: String,
    /// All of it for a screen reader.
    pub spoken: String,
}

/// The cell of a rung on a ladder at `now` of the relay's. `spread`: on how many of several
/// relays it is so.
#[must_use]
pub fn cell(
    rung: &RungState,
    step: Option<&Step>,
    now: UnixMillis,
    stale: Option<i64>,
    spread: Spread,
) -> Cell {
    let (fill, shape, mut word, second, third) = state(rung, step, now, stale);
    if stale.is_none() && fill != Fill::None && spread.of > 1 {
        word = format!("{word} {}/{}", spread.worst, spread.of);
    }
    let health = health_shape(rung, now);
    // Under an operator's hand the rung's own health shows behind the sign.
    let behind = if rung.forced.is_some() && stale.is_none() { health } else { "" };
    let head = format!("{shape}{behind} {}", rung.name);
    let parts = [rung.name.as_str(), &word, &second, &third];
    let spoken = parts.iter().filter(|part| !part.is_empty()).copied();
    let spoken = spoken.filter(|part| part.chars().any(char::is_alphanumeric));
    let spoken = spoken.collect::<Vec<_>>().join(", ");
    let spoken = match stale {
        Some(age) => format!("{}, no news for {}", rung.name, shared::figures::span(age)),
        None => spoken,
    };
    let second = [word.as_str(), second.as_str()];
    let second = second.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>();
    Cell { fill, head, second: second.join(" "), third, spoken }
}

type CellText = (Fill, &'static str, String, String, String);

fn state(rung: &RungState, step: Option<&Step>, now: UnixMillis, stale: Option<i64>) -> CellText {
    let left = |until: UnixMillis| countdown(until.0.saturating_sub(now.0));
    let health = &rung.health;
    if let Some(age) = stale {
        let age = shared::figures::span(age);
        return (Fill::Dashed, "◌", "?".to_owned(), age, String::new());
    }
    if let Some(forced) = &rung.forced {
        let word = match &forced.mode {
            Word::Known(OverrideMode::Demoted) => "LAST".to_owned(),
            mode => mode.spaced(" ").to_uppercase(),
        };
        let end = forced.until_at.map_or_else(|| "no end".to_owned(), left);
        let by = forced.by.as_deref().unwrap_or_default();
        let streams = match forced.draining {
            0 => String::new(),
            count => format!(" dr {count}"),
        };
        return (Fill::Outline, "■", word, String::new(), format!("{end} {by}{streams}"));
    }
    let cause = || words::short_cause(rung);
    if let Some(down) = &health.hard_down {
        let word = match down.why.as_str() {
            "credit" => "CREDIT",
            "model" => "NO MODEL",
            _ => "AUTH",
        };
        let status = health.cause.as_ref().and_then(|cause| cause.status);
        let status = status.map(|status| format!("{status}, ")).unwrap_or_default();
        let third = format!("{status}retry {}", left(down.until_at));
        return (Fill::Block, "×", word.to_owned(), String::new(), third);
    }
    if health.state == BreakerState::Open {
        let probe = health.probe.as_ref().and_then(|probe| probe.at);
        let probe = probe.filter(|at| *at > now).map_or_else(|| "next call".to_owned(), left);
        return (Fill::Block, "▲", "OPEN".to_owned(), format!("probe {probe}"), cause());
    }
    if let Some(hold) = health.hold.as_ref().filter(|_| is_held(rung, now)) {
        return (Fill::Tint, "‖", "HOLD".to_owned(), left(hold.until_at), "Retry-After".to_owned());
    }
    if health.state == BreakerState::HalfOpen {
        let (good, need, running) = health
            .probe
            .as_ref()
            .map_or((0, 0, false), |probe| (probe.good, probe.need, probe.running));
        let probe = if running { "probe is out" } else { "probe next" };
        return (Fill::Tint, "◐", format!("HALF {good}/{need}"), String::new(), probe.to_owned());
    }
    if health.weight < 1.0 {
        let word = if health.floor { "SPARED" } else { "SLOW START" };
        let weight = percent(Some(health.weight));
        return (Fill::Tint, "◐", word.to_owned(), weight, carries(rung, step));
    }
    let over = rung.now.mark_ms.is_some() && rung.now.ttft_p95_ms > rung.now.mark_ms;
    if is_failing(rung) || (over && rung.now.slow > 0) {
        let (slow, bad, calls) = (rung.now.slow, rung.now.bad, rung.now.calls);
        let third = format!("{slow} slow {bad} bad /{calls}");
        return (Fill::Tint, "◆", carries(rung, step), String::new(), third);
    }
    let shape = if rung.now.calls == 0 { "○" } else { "●" };
    (Fill::None, shape, carries(rung, step), String::new(), spark(rung))
}

/// A rung's health as a shape, whatever an operator says of it.
fn health_shape(rung: &RungState, now: UnixMillis) -> &'static str {
    match rung.health.state.known() {
        _ if rung.health.hard_down.is_some() => "×",
        Some(BreakerState::Open) => "▲",
        Some(BreakerState::HalfOpen) => "◐",
        _ if is_held(rung, now) => "‖",
        _ if is_failing(rung) => "◆",
        _ => "",
    }
}

/// Its share of the ladder's answers and its p95.
fn carries(rung: &RungState, step: Option<&Step>) -> String {
    let share = percent(step.and_then(|step| step.share)).replace(' ', "");
    let at_least = if rung.now.ttft_at_least { ">" } else { "" };
    format!("{share} {at_least}{}", wait(rung.now.ttft_p95_ms).replace(' ', ""))
}

/// Its calls of the last quarter of an hour as a row of bars.
#[must_use]
pub fn spark(rung: &RungState) -> String {
    let Some(curve) = &rung.past.spark else { return String::new() };
    bars(&curve.calls, 15)
}

/// Numbers as a row of so many bars; the sum of neighbours where there are more.
#[must_use]
pub fn bars(counts: &[u32], columns: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = counts.len().div_ceil(columns.max(1)).max(1);
    let sums: Vec<u64> =
        counts.chunks(each).map(|part| part.iter().copied().map(u64::from).sum()).collect();
    let most = sums.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let bar = |sum: u64| {
        let place = usize::try_from(sum * 7 / most).unwrap_or(0);
        BARS.get(place).copied().unwrap_or('▁')
    };
    sums.into_iter().map(bar).collect()
}

/// The rungs to look at first: those that are out or away, then by share of slow and bad.
#[must_use]
pub fn worst(rungs: &[RungState]) -> Vec<&RungState> {
    let poor = |rung: &RungState| {
        let away = u64::from(rung.health.sick_since_at.is_some()) * 1_000_000;
        away + (rung.now.slow + rung.now.bad) * 1_000 / rung.now.calls.max(1)
    };
    let mut all: Vec<&RungState> = rungs.iter().collect();
    all.sort_by_key(|rung| std::cmp::Reverse(poor(rung)));
    all
}

/// What a ladder's own cell says: its name, its users, its pace and price; and whether its
/// users are hurt. Its price is a least one where `unpriced` rungs have no part in it.
#[must_use]
pub fn ladder(state: &LadderState, unpriced: usize) -> ([String; 3], bool) {
    let users = &state.users;
    let lost = users.failed + users.broken;
    let all = users.ok + lost + users.gone;
    let failed = share(lost, all);
    let hurt = lost > 0;
    let star = if state.order == state.config_order { "" } else { "*" };
    let least = if unpriced > 0 { ">" } else { "" };
    let sign = if hurt { "!" } else { " " };
    (
        [
            format!("{}{star}", state.name),
            format!("{sign}fail {:<7}{}", percent(failed), shared::figures::rate(users.rps)),
            format!(
                " p95 {:<8}{least}{}",
                wait(users.ttft_p95_ms),
                shared::figures::per_hour(users.cost_nps)
            ),
        ],
        hurt,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::admin::board::{HardDown, HoldState, ProbeState};
    use shared::admin::sample::{self, NIGHT, before};

    fn rung(change: impl Fn(&mut RungState)) -> RungState {
        let mut rung = sample::rung("sol");
        change(&mut rung);
        rung
    }

    #[test]
    fn the_highest_that_holds_is_shown() {
        let open = |rung: &mut RungState| {
            rung.health.state = BreakerState::Open.into();
            rung.health.probe =
                Some(ProbeState { at: Some(before(-4)), running: false, good: 0, need: 2 });
        };
        let held = |rung: &mut RungState| {
            rung.health.hold =
                Some(HoldState { until_at: before(-18), why: "provider".to_owned() });
        };
        let rows: Vec<(RungState, Fill, &str, &str)> = vec![
            (rung(|rung| rung.now.calls = 0), Fill::None, "○ sol", ""),
            (rung(|_| {}), Fill::None, "● sol", ""),
            (rung(open), Fill::Block, "▲ sol", "OPEN probe 0:04"),
            (rung(held), Fill::Tint, "‖ sol", "HOLD 0:18"),
            (
                rung(|rung| {
                    held(rung);
                    open(rung);
                }),
                Fill::Block,
                "▲ sol",
                "OPEN",
            ),
            (rung(|rung| rung.health.weight = 0.2), Fill::Tint, "◐ sol", "SLOW START 20 %"),
            (
                rung(|rung| {
                    rung.health.weight = 0.05;
                    rung.health.floor = true;
                }),
                Fill::Tint,
                "◐ sol",
                "SPARED 5.0 %",
            ),
            (
                rung(|rung| {
                    open(rung);
                    rung.health.hard_down =
                        Some(HardDown { why: "key".to_owned(), until_at: before(-60) });
                }),
                Fill::Block,
                "× sol",
                "AUTH",
            ),
            (
                rung(|rung| {
                    rung.now.calls = 10;
                    rung.now.slow = 4;
                }),
                Fill::Tint,
                "◆ sol",
                "",
            ),
            (
                rung(|rung| {
                    open(rung);
                    sample::force(rung, OverrideMode::ForcedOpen);
                }),
                Fill::Outline,
                "■▲ sol",
                "FORCED OPEN",
            ),
            (
                rung(|rung| sample::force(rung, OverrideMode::Demoted)),
                Fill::Outline,
                "■ sol",
                "LAST",
            ),
        ];
        for (rung, fill, head, second) in rows {
            let found = cell(&rung, None, NIGHT, None, Spread::default());
            assert_eq!((found.fill, found.head.as_str()), (fill, head));
            assert!(found.second.starts_with(second), "{head}: {}", found.second);
            assert!(found.spoken.starts_with("sol"), "{}", found.spoken);
        }
        let old = cell(&rung(open), None, NIGHT, Some(42_000), Spread::default());
        assert_eq!(
            (old.fill, old.head.as_str(), old.second.as_str()),
            (Fill::Dashed, "◌ sol", "? 42 s")
        );
    }

    #[test]
    fn of_several_relays_it_says_how_many_have_the_worst_state() {
        let rung = rung(|rung| sample::open(rung, 4));
        let said = |worst, of| cell(&rung, None, NIGHT, None, Spread { worst, of }).second;
        assert_eq!(said(2, 3), "OPEN 2/3 probe 0:04");
        assert_eq!(said(1, 1), "OPEN probe 0:04");
    }

    #[test]
    fn a_cost_without_all_rungs_is_a_least_one() {
        let board = sample::calm(&[("chat", &["sol", "opus"])]);
        let third = |board: &shared::admin::Board| {
            let chat = &board.ladders[0];
            ladder(chat, board.unpriced(chat)).0[2].clone()
        };
        assert!(third(&board).ends_with("  14 $/h"), "{}", third(&board));
        let mut idle = board.clone();
        idle.rungs[1].price = None;
        assert_eq!(third(&idle), third(&board), "it was not called");
        let mut called = board;
        called.rungs[0].price = None;
        assert!(third(&called).ends_with(">14 $/h"), "{}", third(&called));
    }

    #[test]
    fn bars_are_as_high_as_their_share_of_the_highest() {
        assert_eq!(bars(&[0, 7, 14], 3), "▁▄█");
        assert_eq!(bars(&[1, 1, 2, 2], 2), "▄█");
        assert_eq!(bars(&[0, 0], 2), "", "nothing to show");
        assert_eq!(bars(&[], 5), "");
    }

    #[test]
    fn the_sick_come_first_then_those_that_are_late() {
        let mut rungs = ["a", "b", "c"].map(sample::rung).to_vec();
        rungs[1].now.calls = 10;
        rungs[1].now.slow = 5;
        rungs[2].health.sick_since_at = Some(before(60));
        let names: Vec<&str> = worst(&rungs).iter().map(|rung| rung.name.as_str()).collect();
        assert_eq!(names, ["c", "b", "a"]);
    }
}
