//! What operators may change: laws over random changes, and the rules as rows.

use crate::operator::present::{is_in_force, order_now, override_now};
use crate::operator::{
    Applied, Attributions, LadderName, Moment, Names, RefusalKind, Refused, RungName, Stale,
    fit_order, make, plan_change, plan_undo,
};
use crate::{Board, LadderIndex, LadderSpec, RungIndex, RungSpec, Time};
use proptest::prelude::*;
use shared::admin::actions::{About, Action, ActionKind};
use shared::admin::changes::{
    ActionBody, Change, ChangeRequest, ConfigWord, NewOrder, OrderNow, OverrideNow, Present, Target,
};
use shared::admin::ttl::Ttl;
use shared::{OrderSource, OverrideMode, RefusedReason, UnixMillis};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const RUNGS: [&str; 4] = ["a", "b", "c", "d"];
const LADDERS: [(&str, &[usize]); 2] = [("chat", &[0, 1, 2]), ("code", &[2, 3])];
const EVERY: [OverrideMode; 4] = [
    OverrideMode::Auto,
    OverrideMode::ForcedOpen,
    OverrideMode::ForcedClosed,
    OverrideMode::Demoted,
];

/// A board with its names, at some moment.
#[derive(Clone)]
struct Desk {
    board: Board,
    made: Attributions,
    names: Names,
    moment: Moment,
}

impl Desk {
    fn new() -> Self {
        let indexes = |rungs: &[usize]| rungs.iter().copied().map(RungIndex).collect::<Vec<_>>();
        let specs = LADDERS.map(|(_, rungs)| {
            Arc::new(LadderSpec { rungs: indexes(rungs), ..LadderSpec::default() })
        });
        let rungs = RUNGS.iter().enumerate().map(|(at, name)| RungName {
            name: (*name).to_owned(),
            index: RungIndex(at),
            provider: if at < 2 { "east" } else { "west" }.to_owned(),
            domains: vec![if at % 2 == 0 { "even" } else { "odd" }.to_owned()],
        });
        let ladders = LADDERS.iter().enumerate().map(|(at, (name, rungs))| LadderName {
            name: (*name).to_owned(),
            index: LadderIndex(at),
            rungs: indexes(rungs),
        });
        Self {
            board: Board::new(
                vec![RungSpec::default(); RUNGS.len()],
                specs.to_vec(),
                fastrand::Rng::with_seed(1),
            ),
            made: Attributions::default(),
            names: Names { rungs: rungs.collect(), ladders: ladders.collect() },
            moment: Moment {
                now: Time::from_millis(100_000_000),
                today: UnixMillis(1_000_000_000),
            },
        }
    }

    fn after(&mut self, span: Duration) {
        self.moment.now = self.moment.now.plus(span);
        self.moment.today = self.moment.today.plus(span);
    }

    /// Makes these changes with the versions that are current now.
    fn change(
        &mut self,
        id: &str,
        changes: &[Change],
        accept: &[&str],
    ) -> Result<Action, RefusalKind> {
        let request = self.seen(id, changes, accept);
        self.make(&request)
    }

    /// A request for these changes with the versions that are current now.
    fn seen(&self, id: &str, changes: &[Change], accept: &[&str]) -> ChangeRequest {
        let orders = changes.iter().filter_map(|change| match change {
            Change::Order { ladder, .. } => {
                let index = self.names.find_ladder(ladder).ok()?;
                Some((format!("ladder/{ladder}"), self.board.order_version(index)))
            }
            Change::Override { target: Target::Rung(rung), .. } => {
                let index = self.names.find_rung(rung).ok()?;
                Some((format!("rung/{rung}"), self.board.override_version(index)))
            }
            Change::Override { .. } => None,
        });
        ChangeRequest {
            id: id.to_owned(),
            reason: format!("why {id}"),
            ttl: Some(Ttl::Endless),
            changes: changes.to_vec(),
            expect: orders.collect::<BTreeMap<_, _>>(),
            accept: accept.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn make(&mut self, request: &ChangeRequest) -> Result<Action, RefusalKind> {
        let steps = plan_change(&self.names, request, "ann", self.moment.today)
            .map_err(|refused| refused.kind)?;
        let Self { board, made, names, moment } = self;
        let applied = make(board, made, names, &steps, *moment, Stale::Version);
        applied.map(|applied| self.action(&request.id, applied)).map_err(|refused| refused.kind)
    }

    fn undo(&mut self, undone: &Action, id: &str, accept: &[&str]) -> Result<Action, RefusalKind> {
        let body = ActionBody {
            id: id.to_owned(),
            reason: "back".to_owned(),
            accept: accept.iter().map(|&name| name.to_owned()).collect(),
        };
        let steps = plan_undo(&self.names, undone, &body, self.moment.today)
            .map_err(|refused| refused.kind)?;
        let Self { board, made, names, moment } = self;
        let applied = make(board, made, names, &steps, *moment, Stale::Superseded);
        applied.map(|applied| self.action(id, applied)).map_err(|refused| refused.kind)
    }

    fn action(&self, id: &str, applied: Applied) -> Action {
        Action {
            id: id.to_owned(),
            at: self.moment.today,
            kind: ActionKind::Change,
            by: "ann".to_owned(),
            reason: format!("why {id}"),
            changes: Vec::new(),
            about: About::default(),
            before: Some(applied.before),
            after: Some(applied.after),
            accepted: applied.accepted,
            check: None,
            until_at: None,
            ended_at: None,
            ended_by: None,
            undoes: None,
            in_force: true,
        }
    }

    fn forced(&self, rung: usize) -> OverrideMode {
        self.board.forced(RungIndex(rung), self.moment.now).unwrap().0
    }

    /// Everything that is in force, without the versions and the actions that made it.
    fn state(&self) -> Present {
        let Self { board, made, names, moment } = self;
        let rungs = (0..RUNGS.len()).map(|at| {
            let now = override_now(board, made, names, RungIndex(at), moment.now);
            OverrideNow { version: 0, action: None, ..now }
        });
        let ladders = (0..LADDERS.len()).map(|at| {
            let now = order_now(board, made, names, LadderIndex(at), moment.now);
            OrderNow { version: 0, action: None, ..now }
        });
        Present { rungs: rungs.collect(), ladders: ladders.collect() }
    }

    /// Ladders all of whose rungs are forced open.
    fn lost(&self) -> Vec<&'static str> {
        let is_lost = |rungs: &[usize]| {
            rungs.iter().all(|rung| self.forced(*rung) == OverrideMode::ForcedOpen)
        };
        LADDERS.iter().filter(|(_, rungs)| is_lost(rungs)).map(|(name, _)| *name).collect()
    }
}

fn force(rung: &str, mode: OverrideMode) -> Change {
    Change::Override { target: Target::Rung(rung.to_owned()), mode, cut_streams: false }
}

fn order(ladder: &str, rungs: &[&str]) -> Change {
    let rungs = rungs.iter().map(|&rung| rung.to_owned()).collect();
    Change::Order { ladder: ladder.to_owned(), order: NewOrder::Rungs(rungs) }
}

/// Changes of different rungs and ladders, in any number.
fn changes() -> impl Strategy<Value = Vec<Change>> {
    let overrides = proptest::collection::btree_map(
        0..RUNGS.len(),
        (proptest::sample::select(EVERY.to_vec()), any::<bool>()),
        0..=RUNGS.len(),
    );
    let orders = (
        proptest::option::of(Just(LADDERS[0].1.to_vec()).prop_shuffle()),
        proptest::option::of(Just(LADDERS[1].1.to_vec()).prop_shuffle()),
        any::<bool>(),
    );
    let changes = (overrides, orders).prop_map(|(overrides, (chat, code, config))| {
        let overrides = overrides.into_iter().map(|(rung, (mode, cut_streams))| Change::Override {
            target: Target::Rung(RUNGS[rung].to_owned()),
            mode,
            cut_streams: cut_streams && mode == OverrideMode::ForcedOpen,
        });
        let named = |rungs: Vec<usize>| rungs.into_iter().map(|at| RUNGS[at]).collect::<Vec<_>>();
        let chat = chat.map(|rungs| order("chat", &named(rungs)));
        let code = code.map(|rungs| match config {
            true => config_order("code"),
            false => order("code", &named(rungs)),
        });
        overrides.chain(chat).chain(code).collect::<Vec<_>>()
    });
    changes.prop_filter("at least one", |changes| !changes.is_empty())
}

proptest! {
    #[test]
    fn undo_after_do_is_identity(first in changes(), second in changes()) {
        let mut desk = Desk::new();
        desk.change("first", &first, &["chat", "code"]).unwrap();
        desk.after(Duration::from_secs(5));
        let before = desk.state();
        let done = desk.change("second", &second, &["chat", "code"]).unwrap();
        desk.after(Duration::from_secs(5));
        desk.undo(&done, "back", &["chat", "code"]).unwrap();
        prop_assert_eq!(desk.state(), before);
        // It can be undone only once.
        let changed = done.before != done.after;
        let again = desk.undo(&done, "again", &["chat", "code"]);
        prop_assert_eq!(again.is_err(), changed, "{:?}", done);
    }

    #[test]
    fn two_operators_never_both_win_one_version(ours in changes(), theirs in changes()) {
        let mut desk = Desk::new();
        let (one, other) = (
            desk.seen("one", &ours, &["chat", "code"]),
            desk.seen("other", &theirs, &["chat", "code"]),
        );
        let done = desk.make(&one).unwrap();
        let before = desk.state();
        let moved = |name: &String| {
            let (rungs, ladders) = match (&done.before, &done.after) {
                (Some(before), Some(after)) => (
                    before.rungs.iter().zip(&after.rungs),
                    before.ladders.iter().zip(&after.ladders),
                ),
                _ => unreachable!("a change has both"),
            };
            rungs.into_iter().any(|(a, b)| a.version != b.version && format!("rung/{}", a.rung) == *name)
                || ladders
                    .into_iter()
                    .any(|(a, b)| a.version != b.version && format!("ladder/{}", a.ladder) == *name)
        };
        let meets = other.expect.keys().any(moved);
        let made = desk.make(&other);
        prop_assert_eq!(made.as_ref().err(), meets.then_some(&RefusalKind::Version));
        if meets {
            prop_assert_eq!(desk.state(), before, "what is refused changes nothing");
        }
    }

    #[test]
    fn a_last_rung_never_goes_without_its_ladders_name(
        first in changes(),
        second in changes(),
        accept in proptest::sample::subsequence(vec!["chat", "code"], 0..=2),
    ) {
        let mut desk = Desk::new();
        desk.change("first", &first, &["chat", "code"]).unwrap();
        let (before, lost_before) = (desk.state(), desk.lost());
        match desk.change("second", &second, &accept) {
            Ok(done) => {
                for ladder in desk.lost() {
                    prop_assert!(
                        lost_before.contains(&ladder) || accept.contains(&ladder),
                        "{ladder} was given up unasked: {second:?}"
                    );
                }
                prop_assert!(done.accepted.iter().all(|name| accept.contains(&name.as_str())));
            }
            Err(kind) => {
                prop_assert_eq!(kind, RefusalKind::Conflict);
                prop_assert_eq!(desk.state(), before, "what is refused changes nothing");
            }
        }
    }
}

#[test]
fn what_has_ended_by_itself_is_neither_taken_back_nor_brought_back() {
    let mut desk = Desk::new();
    let short: Ttl = "60s".parse().unwrap();
    let mut request = desk.seen("short", &[force("a", OverrideMode::Demoted)], &[]);
    request.ttl = Some(short);
    let done = desk.make(&request).unwrap();
    assert!(is_in_force(&desk.board, &desk.made, "short", desk.moment.now));
    let later = desk.change("later", &[force("a", OverrideMode::ForcedClosed)], &[]).unwrap();
    assert!(!is_in_force(&desk.board, &desk.made, "short", desk.moment.now));
    assert_eq!(desk.undo(&done, "too-late", &[]).unwrap_err(), RefusalKind::Conflict);
    desk.after(Duration::from_secs(61));
    // The override that was in force before has ended by its time meanwhile.
    desk.undo(&later, "back", &[]).unwrap();
    assert_eq!(desk.forced(0), OverrideMode::Auto);
    let version = desk.board.override_version(RungIndex(0));
    desk.board.settle(desk.moment.now.plus(Duration::from_secs(1)));
    assert_eq!(desk.board.override_version(RungIndex(0)), version, "nothing is left to end");

    let mut request = desk.seen("short-too", &[force("b", OverrideMode::Demoted)], &[]);
    request.ttl = Some(short);
    let done = desk.make(&request).unwrap();
    desk.after(Duration::from_secs(61));
    assert_eq!(desk.undo(&done, "ended", &[]).unwrap_err(), RefusalKind::Conflict);
}

#[test]
fn what_makes_no_sense_is_refused_by_its_rule() {
    let demoted = |rung: &str| force(rung, OverrideMode::Demoted);
    let group =
        |target| Change::Override { target, mode: OverrideMode::Demoted, cut_streams: false };
    use RefusalKind as K;
    for (changes, expected) in [
        (vec![], Err(K::Wrong)),
        (vec![demoted("a")], Ok(1)),
        (vec![demoted("x")], Err(K::Unknown)),
        (vec![demoted("a"), demoted("a")], Err(K::Wrong)),
        (vec![group(Target::Provider("east".to_owned()))], Ok(2)),
        (vec![group(Target::Domain("odd".to_owned())), demoted("b")], Err(K::Wrong)),
        (vec![group(Target::Domain("nowhere".to_owned()))], Err(K::Unknown)),
        (vec![order("chat", &["c", "b", "a"])], Ok(1)),
        (vec![order("chat", &["c", "b"])], Err(K::Wrong)),
        (vec![order("chat", &["c", "b", "a", "a"])], Err(K::Wrong)),
        (vec![order("chat", &["c", "b", "d"])], Err(K::Wrong)),
        (vec![order("none", &["a"])], Err(K::Unknown)),
        (vec![order("chat", &["c", "b", "a"]), order("chat", &["a", "b", "c"])], Err(K::Wrong)),
    ] {
        let mut desk = Desk::new();
        let made = desk.change("x", &changes, &[]);
        let counted = made.map(|done| {
            let after = done.after.unwrap();
            after.rungs.len() + after.ladders.len()
        });
        assert_eq!(counted, expected, "{changes:?}");
    }
    let mut desk = Desk::new();
    let blind = ChangeRequest {
        expect: BTreeMap::new(),
        ..desk.seen("blind", &[order("chat", &["c", "b", "a"])], &[])
    };
    assert_eq!(desk.make(&blind).unwrap_err(), K::NeedsVersion);
}

fn config_order(ladder: &str) -> Change {
    Change::Order { ladder: ladder.to_owned(), order: NewOrder::Config(ConfigWord::Config) }
}

#[test]
fn what_is_so_already_makes_no_version() {
    let mut desk = Desk::new();
    let auto = force("a", OverrideMode::Auto);
    let done = desk.change("nothing", &[auto.clone(), config_order("chat")], &[]).unwrap();
    assert_eq!(done.before, done.after);
    let moved = [force("a", OverrideMode::Demoted), order("chat", &["c", "b", "a"])];
    desk.change("moved", &moved, &[]).unwrap();
    let done = desk.change("back", &[auto, config_order("chat")], &[]).unwrap();
    assert_ne!(done.before, done.after, "what was not so is changed");
}

#[test]
fn who_and_why_are_those_of_the_version_that_they_made() {
    let mut desk = Desk::new();
    let moved = [force("a", OverrideMode::Demoted), order("chat", &["c", "b", "a"])];
    desk.change("moved", &moved, &[]).unwrap();
    let (rung, ladder, now) = (RungIndex(0), LadderIndex(0), desk.moment.now);
    let by = |desk: &Desk| {
        let rung = override_now(&desk.board, &desk.made, &desk.names, rung, now);
        (rung.by, order_now(&desk.board, &desk.made, &desk.names, ladder, now).by)
    };
    assert_eq!(by(&desk), (Some("ann".to_owned()), Some("ann".to_owned())));
    // A change that is not an operator's replaces both.
    desk.board.force(rung, now, OverrideMode::ForcedOpen);
    let reversed = vec![RungIndex(1), RungIndex(0), RungIndex(2)];
    desk.board.reorder(ladder, Some(crate::Order { rungs: reversed, until: None, adapted: false }));
    assert_eq!(by(&desk), (None, None));
}

#[test]
fn undo_leaves_alone_what_the_action_only_looked_at() {
    let mut desk = Desk::new();
    let mut request = desk.seen("one", &[force("a", OverrideMode::Demoted)], &[]);
    request.expect.insert("rung/b".to_owned(), desk.board.override_version(RungIndex(1)));
    request.expect.insert("ladder/code".to_owned(), desk.board.order_version(LadderIndex(1)));
    let done = desk.make(&request).unwrap();
    let other = [force("b", OverrideMode::ForcedClosed), order("code", &["d", "c"])];
    desk.change("other", &other, &[]).unwrap();
    desk.undo(&done, "back", &[]).unwrap();
    assert_eq!((desk.forced(0), desk.forced(1)), (OverrideMode::Auto, OverrideMode::ForcedClosed));
    let order = order_now(&desk.board, &desk.made, &desk.names, LadderIndex(1), desk.moment.now);
    assert_eq!(order.order, ["d", "c"]);
}

#[test]
fn undo_takes_no_last_rung_without_its_ladders_name() {
    let mut desk = Desk::new();
    let open = |rung| force(rung, OverrideMode::ForcedOpen);
    desk.change("open", &[open("c"), open("d")], &["code"]).unwrap();
    let auto = force("d", OverrideMode::Auto);
    let closed = desk.change("again", &[auto], &[]).unwrap();
    let before = desk.state();
    assert_eq!(desk.undo(&closed, "back", &[]).unwrap_err(), RefusalKind::Conflict);
    assert_eq!(desk.state(), before);
    desk.undo(&closed, "back", &["code"]).unwrap();
    assert_eq!(desk.lost(), ["code"]);
}

#[test]
fn undo_brings_no_order_back_that_would_have_ended_meanwhile() {
    let mut desk = Desk::new();
    let mut request = desk.seen("short", &[order("chat", &["c", "b", "a"])], &[]);
    request.ttl = Some("60s".parse().unwrap());
    desk.make(&request).unwrap();
    let later = desk.change("later", &[order("chat", &["b", "a", "c"])], &[]).unwrap();
    desk.after(Duration::from_secs(61));
    let version = desk.board.order_version(LadderIndex(0));
    desk.undo(&later, "back", &[]).unwrap();
    let order = order_now(&desk.board, &desk.made, &desk.names, LadderIndex(0), desk.moment.now);
    assert_eq!((order.source, order.order), (OrderSource::Config, order.config_order));
    assert_eq!(order.version, version + 1, "it came back, and then ended");
}

#[test]
fn an_order_is_fitted_to_the_rungs_that_are_there() {
    let desk = Desk::new();
    for (order, fitted, adapted) in [
        (&["c", "a", "b"][..], [2, 0, 1], false),
        (&["c", "gone", "a", "b"], [2, 0, 1], true),
        (&["c", "a"], [2, 0, 1], true),
    ] {
        let order: Vec<String> = order.iter().map(|&rung| rung.to_owned()).collect();
        let expected = (fitted.map(RungIndex).to_vec(), adapted);
        assert_eq!(fit_order(&desk.names, LadderIndex(0), &order), expected, "{order:?}");
    }
}

/// The kind decides the status that the caller gets.
#[test]
fn each_reason_of_a_refusal_has_its_kind() {
    use RefusalKind as K;
    use RefusedReason as R;
    let rows = [
        (K::Wrong, &[R::BadId, R::NoReason, R::BadReason, R::BadChanges, R::Twice][..]),
        (K::Wrong, &[R::BadOrder, R::Ambiguous]),
        (K::Unknown, &[R::UnknownRung, R::UnknownLadder, R::UnknownProvider, R::UnknownDomain]),
        (K::Unknown, &[R::UnknownName, R::UnknownNote]),
        (K::Conflict, &[R::IdReused, R::LastRung, R::NoUndo, R::Superseded, R::Overridden]),
        (K::Conflict, &[R::NothingToProbe]),
        (K::Version, &[R::Version]),
        (K::NeedsVersion, &[R::NoVersion]),
    ];
    let mut seen = Vec::new();
    for (kind, reasons) in rows {
        for &reason in reasons {
            assert_eq!(Refused::new(reason, "").kind, kind, "{reason}");
            seen.push(reason);
        }
    }
    assert_eq!(seen.len(), R::ALL.len(), "each of them");
}
