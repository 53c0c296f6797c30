//! The side panel: all that is known of the selected rung, or of the selected ladder.

use crate::board::cell::cell;
use crate::commands::{OF_LADDER, OF_RUNG};
use crate::model::Spread;
use crate::panel::acts::buttons;
use crate::panel::{Scene, line, strong};
use eframe::egui::Ui;
use shared::admin::{Board, LadderState, RungState};
use shared::figures::{UNKNOWN, countdown, per_hour, percent, rate, share, span, spend, wait};

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let selected = &scene.model.selected;
    let rung = selected.rung.as_ref().and_then(|name| scene.model.rung(name));
    let ladder = selected.ladder.as_ref().and_then(|name| scene.model.ladder(name));
    let lines = match (rung, ladder) {
        (Some(rung), _) => of_rung(scene, rung),
        (None, Some(ladder)) => of_ladder(scene, ladder),
        (None, None) => nothing(),
    };
    // Old looks old: it is told from when it is, and no figure of it stands out.
    let stale = scene.model.is_stale(scene.now);
    let heard = scene.model.lead().and_then(|known| known.heard_at);
    if let Some(heard) = heard.filter(|_| stale) {
        let text = format!("◌ as of {}, not now", scene.clock(shared::UnixMillis(heard)));
        line(ui, text, scene.colours.bad);
    }
    let colour = if stale { scene.colours.dim } else { scene.colours.text };
    for (number, text) in lines.into_iter().enumerate() {
        if number == 0 {
            strong(ui, text, colour);
        } else {
            line(ui, text, colour);
        }
    }
    ui.add_space(6.0);
    match (rung, ladder) {
        (Some(_), _) => buttons(ui, scene, &OF_RUNG),
        (None, Some(_)) => buttons(ui, scene, &OF_LADDER),
        (None, None) => buttons(ui, scene, &["g", "?"]),
    }
}

fn nothing() -> Vec<String> {
    vec!["nothing is selected".to_owned(), "arrows or a click select".to_owned()]
}

fn of_rung(scene: &Scene<'_>, rung: &RungState) -> Vec<String> {
    let now = scene.relay_now();
    let region = rung.region.as_deref().map(|region| format!(" · {region}")).unwrap_or_default();
    let said = cell(rung, None, now, None, scene.model.spread(&rung.name));
    let health = &rung.health;
    let since = health.sick_since_at.map(|at| format!(" since {}", scene.clock(at)));
    let opens = match health.opens_10m {
        0 => String::new(),
        1 => ", opened once".to_owned(),
        times => format!(", opened {times} times in 10 min"),
    };
    let mut out = vec![
        format!("{}  {}{region}", rung.name, rung.provider),
        rung.model.clone(),
        format!("{}{}{opens}", said.second, since.unwrap_or_default()),
    ];
    if let Some(cause) = &health.cause {
        out.push(cause.text.clone());
    }
    if let Some(forced) = &rung.forced {
        let end = forced.until_at.map(|until| countdown(until.0 - now.0));
        let end = end.map_or_else(|| "no end".to_owned(), |left| format!("{left} left"));
        let by = forced.by.as_deref().unwrap_or(UNKNOWN);
        out.push(format!("{} by {by}, {end}", forced.mode.spaced(" ")));
        if let Some(reason) = &forced.reason {
            out.push(format!("\"{reason}\""));
        }
        if forced.draining > 0 {
            out.push(format!("{} streams still run", forced.draining));
        }
    }
    out.extend(relays(scene, &rung.name));
    out.extend(figures(scene, rung));
    out.extend(place(scene, rung));
    out
}

/// How the rung is on each of several relays.
fn relays(scene: &Scene<'_>, name: &str) -> Vec<String> {
    let viewed = scene.model.viewed();
    if viewed.len() < 2 {
        return Vec::new();
    }
    let line = |known: &crate::model::WatchedRelay| {
        let stale = known.is_stale(scene.now).then(|| known.age(scene.now).unwrap_or(0));
        let board = known.board.as_ref();
        let rung = board.and_then(|board| board.rungs.iter().find(|rung| rung.name == name));
        let Some(rung) = rung else { return format!("{:<10} does not know it", known.name()) };
        let now = shared::UnixMillis(scene.now + known.offset.get());
        let said = cell(rung, None, now, stale, Spread::default());
        let shape = said.head.split(' ').next().unwrap_or_default();
        format!("{:<10} {shape} {} {}", known.name(), said.second, said.third)
    };
    let known = viewed.into_iter().filter_map(|index| scene.model.relays.get(index));
    std::iter::once(String::new()).chain(known.map(line)).collect()
}

/// Its last half minute in numbers, and how it ended last.
fn figures(scene: &Scene<'_>, rung: &RungState) -> Vec<String> {
    let now = scene.relay_now();
    let ago = |at: shared::UnixMillis| span(now.0.saturating_sub(at.0));
    let (state, past) = (&rung.now, &rung.past);
    let usual = past.usual.as_ref();
    let at_least = if state.ttft_at_least { ">" } else { "" };
    let mut out = vec![
        String::new(),
        format!("{:<10}{:>9}{:>9}{:>9}", "", "now", "usual", "mark"),
        format!(
            "{:<10}{:>9}{:>9}{:>9}",
            "ttft p95",
            format!("{at_least}{}", wait(state.ttft_p95_ms)),
            wait(usual.and_then(|usual| usual.ttft_p95_ms)),
            wait(state.mark_ms),
        ),
        format!("{:<10}{:>9}", "ttft p50", wait(state.ttft_p50_ms)),
        format!(
            "{:<10}{:>9}{:>9}",
            "calls",
            rate(state.rps),
            usual.and_then(|usual| usual.rps).map_or_else(|| UNKNOWN.to_owned(), rate)
        ),
        format!(
            "bad {}  slow {}  of {} in {}",
            percent(share(state.bad, state.calls)),
            percent(share(state.slow, state.calls)),
            state.calls,
            scene.window(30_000)
        ),
        format!(
            "waiting {}, oldest {}; streams {}",
            state.waiting,
            wait(state.oldest_wait_ms),
            state.streaming
        ),
        format!(
            "{}, usual {}",
            spend(state.cost_nps, usize::from(rung.price.is_none())),
            usual.and_then(|usual| usual.cost_nps).map_or_else(|| UNKNOWN.to_owned(), per_hour)
        ),
        crate::board::cell::spark(rung),
        String::new(),
        past.last_ok_at.map_or_else(
            || "no proper end seen yet".to_owned(),
            |at| format!("last ok {} ({} ago)", scene.clock(at), ago(at)),
        ),
    ];
    if let Some(fault) = &past.last_fault {
        let status = fault.status.map(|status| format!(" {status}")).unwrap_or_default();
        out.push(format!("last fault {} {}{status}", scene.clock(fault.at), fault.outcome));
        out.extend(fault.text.clone());
    }
    out.extend(check(scene, rung));
    out
}

/// Its last test call, on whichever relay.
fn check(scene: &Scene<'_>, rung: &RungState) -> Option<String> {
    let viewed = scene.model.viewed().into_iter();
    let all = viewed.filter_map(|it| scene.model.relays.get(it)?.checks.get(&rung.name));
    let last = all.max_by_key(|check| check.at)?;
    let status = last.status.filter(|status| *status >= 300);
    let status = status.map(|status| format!(" {status}")).unwrap_or_default();
    let ttft = last.ttft_ms.map(|ms| format!(", first token {}", wait(Some(ms))));
    let text = last.text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    Some(format!(
        "test call {} by {}: {}{status}{}{text}",
        scene.clock(last.at),
        last.by,
        last.outcome,
        ttft.unwrap_or_default()
    ))
}

/// On which ladders it stands, and where on some relay nobody else is left.
fn place(scene: &Scene<'_>, rung: &RungState) -> Vec<String> {
    let Some(board) = scene.model.board() else { return Vec::new() };
    let on = board.ladders.iter().filter(|ladder| ladder.order.contains(&rung.name));
    let names: Vec<&str> = on.map(|ladder| ladder.name.as_str()).collect();
    let mut out = vec![String::new(), format!("on {}", names.join(", "))];
    let reached = scene.model.reached(scene.now).into_iter();
    let boards = reached.filter_map(|index| scene.model.relays.get(index)?.board.as_ref());
    let mut alone: Vec<&str> = boards.flat_map(|board| alone_on(board, &rung.name)).collect();
    alone.sort_unstable();
    alone.dedup();
    if !alone.is_empty() {
        out.push(format!("ALONE on {}", alone.join(", ")));
    }
    out
}

/// The ladders of a relay on which all others are out.
fn alone_on<'a>(board: &'a Board, rung: &str) -> Vec<&'a str> {
    let is_out = |name: &String| {
        let state = board.rungs.iter().find(|other| other.name == *name);
        state.is_none_or(|state| shared::diagnose::is_out(state, board.at))
    };
    let has = |ladder: &&LadderState| ladder.order.iter().any(|name| name == rung);
    let all = board.ladders.iter().filter(has);
    let alone = all.filter(|it| it.order.iter().all(|name| name == rung || is_out(name)));
    alone.map(|ladder| ladder.name.as_str()).collect()
}

fn of_ladder(scene: &Scene<'_>, ladder: &LadderState) -> Vec<String> {
    let now = scene.relay_now();
    let users = &ladder.users;
    let usual = ladder.usual.as_ref();
    let lost = users.failed + users.broken;
    let all = users.ok + lost + users.gone;
    let mut out = vec![ladder.name.clone()];
    if !ladder.aliases.is_empty() {
        out.push(format!("also {}", ladder.aliases.join(", ")));
    }
    out.push(format!("order of the {}, v{}", ladder.source, ladder.version));
    if let Some(by) = &ladder.by {
        let left = ladder.until_at.map(|until| countdown(until.0 - now.0));
        let left = left.map_or_else(|| "no end".to_owned(), |left| format!("{left} left"));
        out.push(format!("by {by}, {left}"));
    }
    if let Some(reason) = &ladder.reason {
        out.push(format!("\"{reason}\""));
    }
    out.extend([
        String::new(),
        format!("users, last {}", scene.window(60_000)),
        format!("failed {}  broken {}  gone {}", users.failed, users.broken, users.gone),
        format!(
            "rescued {}  late {}  last resort {}",
            percent(share(users.rescued, all)),
            users.late,
            users.last_resort
        ),
        format!(
            "first token p95 {} (usual {})",
            wait(users.ttft_p95_ms),
            wait(usual.and_then(|usual| usual.ttft_p95_ms))
        ),
        format!(
            "{} (usual {})",
            spend(users.cost_nps, scene.model.board().map_or(0, |board| board.unpriced(ladder))),
            usual.map_or_else(|| UNKNOWN.to_owned(), |usual| per_hour(usual.cost_nps))
        ),
        format!(
            "waiting {}, oldest {}; streams {}",
            users.waiting,
            wait(users.oldest_wait_ms),
            users.streaming
        ),
        String::new(),
        "who carries it".to_owned(),
    ]);
    for step in &ladder.steps {
        let passed: u64 = step.passed.values().copied().sum();
        let why = step.passed.iter().max_by_key(|(_, count)| **count);
        let why = why.map(|(reason, _)| format!(", passed over {passed}: {reason}"));
        out.push(format!(
            "{:<12}{:>6} {:>10}{}",
            step.rung,
            percent(step.share),
            per_hour(step.cost_nps),
            why.unwrap_or_default()
        ));
    }
    let budget = &ladder.budget;
    out.extend([
        String::new(),
        format!(
            "hedge {:.0}/{:.0}  retry {:.0}/{:.0}  delay {}",
            budget.hedge.level,
            budget.hedge.cap,
            budget.retry.level,
            budget.retry.cap,
            wait(budget.hedge_delay_ms)
        ),
    ]);
    out
}
