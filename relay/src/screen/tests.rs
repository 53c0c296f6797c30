//! Every screen as text, on boards that hold still.

use super::*;
use shared::admin::actions::{
    Action, ActionKind, BeforeAfter, LadderPreview, Preview, StepPreview, Warning, WarningKind,
};
use shared::admin::board::{HardDown, HoldState};
use shared::admin::changes::{Change, OverrideNow, Present, Target};
use shared::admin::sample::{NIGHT, attempt, before, calm, force, open, shares};
use shared::admin::{AttemptRow, Board, PassedOverRow, RequestDetail, RequestRow};
use shared::{
    AttemptKind, AttemptOutcome, Cause, PassedOver, RequestId, RequestOutcome, TokenVerdict,
};
use shared::{BreakerState, OverrideMode};

const URL: &str = "http://127.0.0.1:8788";

fn terminal(width: usize) -> Terminal {
    Terminal { width, colours: false, ascii: false }
}

fn seen(board: Board) -> View {
    View { url: URL.to_owned(), seen: LastBoard::Board(Box::new(board), 0) }
}

fn text(views: &[View], width: usize) -> String {
    terminal(width).page(&board(views, &terminal(width), None))
}

fn two() -> Board {
    calm(&[("chat", &["sol", "opus", "local"]), ("code", &["opus", "local"])])
}

#[test]
fn a_calm_board_is_quiet() {
    let expected = "\
PROD eu-1  03:04:11Z  up 9 d · 37 streams, 3 waiting · journal ok · ana · http://127.0.0.1:8788
● all well
  below: place, rung, share of answers, first token p95 / slow mark
chat  failed 0 %  by sol 100 %  9.1/s  p95 1.1 s  14 $/h
  1 ● sol    100%  1.1s/1.4s  2 ● opus     0%  1.1s/1.4s  3 ● local    0%  1.1s/1.4s
code  failed 0 %  by opus 100 %  9.1/s  p95 1.1 s  14 $/h
  1 ● opus   100%  1.1s/1.4s  2 ● local    0%  1.1s/1.4s
";
    let found = text(&[seen(two())], 100);
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(&found), squeezed(expected), "{found}");
}

#[test]
fn a_sum_says_how_many_rungs_it_is_without() {
    let mut board = two();
    board.rungs[0].price = None;
    shares(&mut board.ladders[0], &[0.5, 0.5]);
    let found = text(&[seen(board)], 100);
    assert!(found.contains("14 $/h +1 unpriced"), "{found}");
}

#[test]
fn a_sick_rung_and_a_hand_are_on_top_and_in_their_cells() {
    let mut board = two();
    open(&mut board.rungs[0], 42);
    shares(&mut board.ladders[0], &[0.0, 1.0]);
    force(&mut board.rungs[2], OverrideMode::ForcedOpen);
    let found = text(&[seen(board)], 80);
    let lines: Vec<_> = found.lines().collect();
    assert_eq!(
        lines[1],
        "▲ sol open for 42 s: 5 slow in a row; chat answered by opus (100 %), 0 failed"
    );
    assert_eq!(
        lines[2],
        "■ local forced open by ben \"hangs, ticket 4711\", for 3 min, 11:42 left"
    );
    for words in ["▲ sol", "OPEN probe in 0:04", "■ local", "FORCED OPEN 11:42 ben"] {
        assert!(found.contains(words), "{words}: {found}");
    }
}

#[test]
fn every_state_has_a_sign_and_words() {
    type Make = fn(&mut shared::admin::RungState);
    let rows: [(Make, &str, &str); 9] = [
        (|rung| open(rung, 1), "▲ sol", "OPEN probe in 0:04"),
        (|rung| force(rung, OverrideMode::ForcedClosed), "■ sol", "FORCED CLOSED 11:42 ben"),
        (|rung| force(rung, OverrideMode::Demoted), "■ sol", "LAST 11:42 ben"),
        (
            |rung| {
                open(rung, 1);
                force(rung, OverrideMode::ForcedClosed);
            },
            "■ sol",
            "FORCED CLOSED 11:42 ben ▲",
        ),
        (
            |rung| {
                open(rung, 1);
                let until_at = before(-291);
                rung.health.hard_down = Some(HardDown { why: "key".to_owned(), until_at });
            },
            "× sol",
            "KEY REFUSED 4:51",
        ),
        (
            |rung| {
                let hold = HoldState { until_at: before(-18), why: "provider".to_owned() };
                rung.health.hold = Some(hold);
            },
            "‖ sol",
            "HOLD 0:18",
        ),
        (
            |rung| {
                open(rung, 1);
                rung.health.state = BreakerState::HalfOpen.into();
            },
            "◐ sol",
            "HALF-OPEN 0/2 good",
        ),
        (|rung| rung.health.weight = 0.2, "◐ sol", "SLOW START 20 %"),
        (|rung| rung.now.slow = 90, "◆ sol", "90 slow, 0 bad of 270"),
    ];
    for (make, sign, words) in rows {
        let mut board = two();
        make(&mut board.rungs[0]);
        let found = text(&[seen(board)], 120);
        assert!(found.contains(sign) && found.contains(words), "{sign} {words}: {found}");
    }
    let mut board = two();
    board.rungs[0].now.calls = 0;
    board.rungs[0].now.ttft_p95_ms = None;
    assert!(text(&[seen(board)], 120).contains("○ sol"), "no calls is no health");
}

#[test]
fn countdowns_run_on_between_boards_and_old_looks_old() {
    let mut board = two();
    force(&mut board.rungs[0], OverrideMode::ForcedOpen);
    let at =
        |age| View { url: URL.to_owned(), seen: LastBoard::Board(Box::new(board.clone()), age) };
    assert!(text(&[at(2_000)], 120).contains("FORCED OPEN 11:40"));
    assert!(!text(&[at(2_000)], 120).contains("what follows is old"));
    assert!(text(&[at(12_000)], 120).contains("no news for 12 s, what follows is old"));
}

#[test]
fn several_relays_stand_the_worst_first_and_the_lost_one_hides_nobody() {
    let mut sick = two();
    sick.relay.name = Some("eu-2".to_owned());
    open(&mut sick.rungs[0], 42);
    let lost = View {
        url: "http://127.0.0.1:8790".to_owned(),
        seen: LastBoard::Nothing("does not answer: connection refused.".to_owned()),
    };
    let found = text(&[seen(two()), seen(sick), lost], 120);
    let lines: Vec<_> = found.lines().collect();
    assert_eq!(lines[0], "◌ http://127.0.0.1:8790: does not answer: connection refused.");
    assert!(lines[1].starts_with("▲ eu-2, 1 to know: sol open for 42 s"), "{found}");
    assert_eq!(lines[2], "● eu-1: all well");
    assert_eq!(found.matches("connection refused").count(), 1, "said once: {found}");
    let place = |words: &str| found.find(words).unwrap();
    assert!(place("PROD eu-2") < place("PROD eu-1"), "{found}");
}

fn large() -> Board {
    let names: Vec<String> = (1..=72).map(|number| format!("rung-{number}")).collect();
    let ladders: Vec<(String, Vec<&str>)> = names
        .chunks(6)
        .enumerate()
        .map(|(place, rungs)| (format!("ladder-{place}"), rungs.iter().map(|s| &**s).collect()))
        .collect();
    let ladders: Vec<(&str, &[&str])> =
        ladders.iter().map(|(name, rungs)| (&**name, rungs.as_slice())).collect();
    calm(&ladders)
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let mut board = large();
    open(&mut board.rungs[3], 42);
    force(&mut board.rungs[4], OverrideMode::ForcedOpen);
    board.ladders[0].order.reverse();
    for width in [80, 81, 100, 137, 160, 200] {
        let found = text(&[seen(board.clone())], width);
        for line in found.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        for rung in &board.rungs {
            assert!(found.contains(&rung.name), "{} at {width}", rung.name);
        }
    }
}

#[test]
fn what_is_too_much_for_a_window_shrinks_where_all_is_well() {
    let mut board = large();
    open(&mut board.rungs[3], 42);
    let views = [seen(board)];
    let full = super::board(&views, &terminal(80), None);
    assert!(full.len() > 24, "{}", full.len());
    let brief = terminal(80).page(&super::board(&views, &terminal(80), Some(24)));
    assert!(brief.lines().count() <= 24, "{brief}");
    assert!(brief.contains("OPEN probe in"), "the sick ladder keeps its cells: {brief}");
    for place in 0..12 {
        assert!(brief.contains(&format!("ladder-{place} ")), "{place}: {brief}");
    }
    let tiny = terminal(80).page(&super::board(&views, &terminal(80), Some(6)));
    assert_eq!(tiny.lines().count(), 6);
    assert!(tiny.contains("more lines"), "{tiny}");
}

#[test]
fn a_poor_terminal_gets_ascii_and_no_colours() {
    let mut board = two();
    open(&mut board.rungs[0], 42);
    force(&mut board.rungs[2], OverrideMode::ForcedOpen);
    let lines = super::board(&[seen(board)], &terminal(80), None);
    let plain = Terminal { ascii: true, ..terminal(80) }.page(&lines);
    assert!(plain.is_ascii(), "{plain}");
    assert!(plain.contains("! sol") && plain.contains("# local"), "{plain}");
    let coloured = Terminal { colours: true, ..terminal(80) }.page(&lines);
    let bare: String = {
        let mut parts = coloured.split('\x1b');
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
    };
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&bare), trimmed(&terminal(80).page(&lines)), "colours change no text");
}

#[test]
fn a_reason_from_elsewhere_does_not_command_the_terminal() {
    let mut board = two();
    force(&mut board.rungs[0], OverrideMode::ForcedOpen);
    board.rungs[0].forced.as_mut().unwrap().reason = Some("x\x1b[2J\r\ny\u{202e}z".to_owned());
    let found = text(&[seen(board)], 120);
    assert!(!found.contains('\x1b') && !found.contains('\r') && !found.contains('\u{202e}'));
    assert!(found.contains("x [2J"), "{found}");
}

#[test]
fn a_preview_says_before_and_after_and_the_worst_first() {
    let preview = Preview {
        ladders: vec![LadderPreview {
            ladder: "chat".to_owned(),
            requests: 412,
            since_at: Some(before(900)),
            steps: vec![StepPreview {
                rung: "sol".to_owned(),
                place: BeforeAfter { before: 1, after: 1 },
                share: BeforeAfter { before: Some(0.62), after: Some(0.0) },
                cost_nps: BeforeAfter { before: Some(1_100_000), after: Some(0) },
            }],
            unserved: BeforeAfter { before: Some(0.0), after: Some(0.08) },
            ttft_p50_ms: BeforeAfter { before: Some(620), after: Some(810) },
            ttft_p95_ms: BeforeAfter { before: Some(1_100), after: None },
            cost_nps: BeforeAfter { before: Some(3_900_000), after: None },
        }],
        warnings: vec![Warning {
            kind: WarningKind::LastRung,
            ladder: Some("code".to_owned()),
            rung: None,
            text: "code would have no rung left.".to_owned(),
        }],
    };
    let found = terminal(120).page(&super::preview(&preview, &two(), &terminal(120)));
    for words in [
        "chat  cost 14 $/h → –  unserved 0 % → 8.0 %  (from its last 412 requests since 02:49:11Z)",
        "first token p50 620 ms → 810 ms, p95 1.1 s → –, unhedged",
        "62 % → 0 %",
        "4.0 $/h → 0 $/h",
        "p95 now\n",
        "4.0 $/h → 0 $/h          1.1 s",
        "▲ code would have no rung left.",
    ] {
        assert!(found.contains(words), "{words}: {found}");
    }
}

fn rescued() -> RequestDetail {
    let request = RequestRow {
        id: RequestId::from_number(4711),
        at: NIGHT,
        client: Some("web".to_owned()),
        ladder: Some("chat".to_owned()),
        model: Some("gpt-4o".to_owned()),
        stream: true,
        outcome: Some(RequestOutcome::Ok),
        cause: None,
        status: Some(200),
        answered_by: Some("opus".to_owned()),
        attempts_made: 2,
        hedged: true,
        ttft_ms: Some(2_300),
        latency_ms: Some(9_800),
        input_tokens: Some(812),
        output_tokens: Some(340),
        cost_usd: Some(0.0041),
        bytes: 1,
        events: 1,
        trail: Vec::new(),
    };
    let first = AttemptRow {
        cause: Some(Cause::LostRace),
        verdict: Some(TokenVerdict::Slow),
        latency_ms: Some(2_300),
        ..attempt(1, "sol", AttemptKind::First, AttemptOutcome::Cancelled)
    };
    let hedge = AttemptRow {
        at: before(-1),
        headers_ms: Some(300),
        ttft_ms: Some(1_300),
        latency_ms: Some(8_800),
        ..attempt(2, "opus", AttemptKind::Hedge, AttemptOutcome::Ok)
    };
    let passed =
        PassedOverRow { rung: "local".to_owned(), reason: PassedOver::Forced, feature: None };
    RequestDetail { request, attempts: vec![first, hedge], passed_over: vec![passed] }
}

#[test]
fn a_request_is_a_line_with_its_trail() {
    let detail = rescued();
    let rows = [Listed { row: detail.request.clone(), detail: Some(detail.clone()) }];
    let found = terminal(160).page(&requests(&rows, &terminal(160)));
    for words in
        ["03:04:11.000", "sol ▲2.3s | opus ●1.3s | local ■ forced", "812/340", "req_000", "web"]
    {
        assert!(found.contains(words), "{words}: {found}");
    }
    for width in [80, 120, 200] {
        let found = terminal(width).page(&requests(&rows, &terminal(width)));
        assert!(found.lines().all(|line| line.chars().count() <= width), "{found}");
        assert!(found.contains(&detail.request.id.to_string()), "the id is whole: {found}");
    }
    assert_eq!(terminal(80).page(&requests(&[], &terminal(80))), "No requests.\n");
}

#[test]
fn a_waterfall_shows_what_ran_when() {
    let found = terminal(100).page(&waterfall(&rescued(), &terminal(100)));
    let bar = |name: &str| {
        let line = found.lines().find(|line| line.contains(name)).unwrap().to_owned();
        line.chars().skip(15 + 4).collect::<String>()
    };
    let (first, hedge) = (bar("first       sol"), bar("hedge       opus"));
    let starts = |bar: &str| bar.chars().position(|c| matches!(c, '─' | '·' | '═')).unwrap();
    assert!(starts(&first) < starts(&hedge), "{found}");
    assert!(hedge.contains("─·") && hedge.contains("·═"), "dialled, head, tokens: {found}");
    assert!(!first.contains('═'), "no token came: {found}");
    for words in ["lost race", "passed over  local: forced", "9.8 s", "answered by opus"] {
        assert!(found.contains(words), "{words}: {found}");
    }
    assert!(found.lines().all(|line| line.chars().count() <= 100), "{found}");
}

#[test]
fn actions_tell_what_is_in_force_and_how_it_is_taken_back() {
    let target = Target::Rung("sol".to_owned());
    let mut action = Action {
        id: "act_1".to_owned(),
        at: before(198),
        kind: ActionKind::Change,
        by: "ben".to_owned(),
        reason: "hangs".to_owned(),
        changes: vec![Change::Override {
            target,
            mode: OverrideMode::ForcedOpen,
            cut_streams: false,
        }],
        about: shared::admin::actions::About::default(),
        before: None,
        after: None,
        accepted: Vec::new(),
        check: None,
        until_at: Some(before(-702)),
        ended_at: None,
        ended_by: None,
        undoes: None,
        in_force: true,
    };
    let standing = [action.clone()];
    let found = terminal(100).page(&actions(&standing, &[], NIGHT, &terminal(100)));
    let row = "■ 03:00:53Z  ben     sol forced open  \"hangs\"  11:42 left";
    assert!(found.contains(row), "{found}");
    assert!(found.contains("take it back: belay undo act_1"), "{found}");
    action.in_force = false;
    let found = terminal(100).page(&actions(&[], &[action], NIGHT, &terminal(100)));
    assert!(found.contains("IN FORCE\n  nothing\nPAST\n"), "{found}");
}

#[test]
fn what_comes_last_in_a_row_of_facts_is_not_cut() {
    let mut board = two();
    let ladder = &mut board.ladders[0];
    ladder.order.reverse();
    (ladder.by, ladder.until_at) = (Some("a-long-name".to_owned()), Some(before(-7_200)));
    (ladder.users.waiting, ladder.users.rescued) = (11, 40);
    ladder.users.ttft_p95_ms = Some(2_500);
    let mut nameless = board.clone();
    nameless.relay.name = None;
    nameless.relay.env = Some("a-long-environment".to_owned());
    assert!(text(&[seen(nameless)], 80).contains(URL), "what has no name has its address");
    let found = text(&[seen(board)], 80);
    for words in ["11 waiting", "order by a-long-name, 2:00:00 left"] {
        assert!(found.contains(words), "{words}: {found}");
    }
    assert!(found.lines().all(|line| line.chars().count() <= 80 && !line.contains('…')), "{found}");
}

#[test]
fn a_time_of_another_day_has_its_date() {
    let rows = [
        (NIGHT.0, "03:04:11Z"),
        (NIGHT.0 - 5 * 3_600_000, "11-28 22:04Z"),
        (NIGHT.0 - 400 * 86_400_000, "2024-10-25 03:04Z"),
    ];
    for (at, expected) in rows {
        assert_eq!(moment(shared::UnixMillis(at), NIGHT), expected);
    }
}

#[test]
fn what_is_so_now_has_its_author_and_end() {
    let now = Present {
        rungs: vec![OverrideNow {
            rung: "sol".to_owned(),
            mode: OverrideMode::ForcedOpen,
            version: 7,
            cut_streams: false,
            by: Some("ben".to_owned()),
            reason: Some("hangs".to_owned()),
            at: None,
            until_at: Some(before(-702)),
            action: None,
        }],
        ladders: Vec::new(),
    };
    let found = terminal(100).page(&present(&now, NIGHT));
    assert_eq!(found, "■ sol: forced open by ben \"hangs\", until 03:15:53Z (11:42 left)\n");
}
