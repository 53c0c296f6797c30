//! What changes what the console knows: news from the relays, and what the engineer does.
//! Pure: a model, a message and the time in; the model changed and tasks for the link out.

use crate::dialog::{About, Dialog, PATIENCE, Sent};
use crate::history::Preset;
use crate::model::{Loaded, Model, Reach, Screen};
use shared::RequestId;
use shared::admin::actions::{ActionPage, Preview};
use shared::admin::changes::{ChangeRequest, Mode};
use shared::admin::{RequestDetail, RequestPage, TransitionPage};
use shared::diagnose::diagnose;

/// What came from a relay.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum News {
    /// An event of its feed.
    Event { relay: usize, kind: String, data: String },
    /// Its feed is closed, and why.
    Lost { relay: usize, why: String },
    /// What a change would do.
    Previewed { relay: usize, asked: u64, found: Result<Preview, String> },
    /// How a change or a deed went; an error says whether it may have been done.
    Done { relay: usize, id: String, result: Result<serde_json::Value, (bool, String)> },
    /// Requests.
    Requests { relay: usize, found: Result<RequestPage, String> },
    /// One request.
    Request { relay: usize, id: RequestId, found: Result<RequestDetail, String> },
    /// Transitions.
    Transitions { relay: usize, found: Result<TransitionPage, String> },
    /// Actions.
    Actions { relay: usize, found: Result<ActionPage, String> },
}

/// What the link is to do.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Task {
    /// Ask what a change would do.
    Preview { relay: usize, asked: u64, request: ChangeRequest },
    /// Make a change, once.
    Change { relay: usize, request: ChangeRequest },
    /// A probe, a check, an undo or a note, once.
    Deed { relay: usize, id: String, path: Vec<String>, body: serde_json::Value },
    /// Read requests.
    Requests { relay: usize, query: Vec<(String, String)> },
    /// Read one request.
    Request { relay: usize, id: RequestId },
    /// Read transitions.
    Transitions { relay: usize },
    /// Read actions.
    Actions { relay: usize },
}

impl Task {
    /// The relay that it is for.
    #[must_use]
    pub const fn relay(&self) -> usize {
        match self {
            Self::Preview { relay, .. }
            | Self::Change { relay, .. }
            | Self::Deed { relay, .. }
            | Self::Requests { relay, .. }
            | Self::Request { relay, .. }
            | Self::Transitions { relay }
            | Self::Actions { relay } => *relay,
        }
    }
}

/// What the engineer does.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Msg {
    /// Goes to a screen.
    Go(Screen),
    /// Moves: ladders or rows down, places to the right.
    Move { down: isize, right: isize },
    /// Selects a rung, on a ladder.
    Select { ladder: Option<String>, rung: Option<String> },
    /// Goes to the worst trouble, or the next or previous one.
    Trouble(isize),
    /// Goes to this one, counted from the worst.
    TroubleAt(usize),
    /// Opens the dialog to make the selected rung so.
    Force(Mode),
    /// Opens the dialog for the selected ladder's order.
    Reorder,
    /// In the dialog: what it covers next.
    Cover,
    /// In the dialog: exactly this cover.
    CoverAt(usize),
    /// In the dialog: how long.
    Last(usize),
    /// In the dialog: the reason.
    Reason(String),
    /// In the dialog: demote instead.
    Demote,
    /// In the dialog: streams are cut, or run to their end.
    Cut,
    /// In the dialog: lets a ladder go without a rung, or not.
    Accept(String),
    /// In the dialog of an order: moves the chosen rung.
    Shift { down: bool },
    /// In the dialog of an order: chooses the rung above or below.
    Choose { down: bool },
    /// In the dialog: do it.
    Send,
    /// Back: closes what is open.
    Back,
    /// Into what is selected.
    Enter,
    /// Ends the selected rung's cool-down, hold or hard-down.
    Probe,
    /// One small call to the selected rung.
    Check,
    /// Takes the last change of this console, or the selected action, back.
    Undo,
    /// Turns the Board.
    Turn,
    /// Another relay is shown.
    Relay,
    /// History: the next preset, or this one.
    Preset(Option<Preset>),
    /// Reads the screen's list anew.
    Refresh,
    /// The list of keys.
    Help,
    /// All troubles, or three.
    AllTroubles,
    /// UTC or local.
    Utc,
    /// The other theme.
    Theme,
    /// The summary goes to the clipboard.
    Copy,
    /// Selects an action.
    Action(String),
    /// Selects a request.
    Request(RequestId),
}

/// News at `now` of ours, in milliseconds.
pub fn news(model: &mut Model, news: News, now: i64) -> Vec<Task> {
    match news {
        News::Event { relay, kind, data } => {
            if let Some(known) = model.relays.get_mut(relay) {
                known.apply(&kind, &data, now);
            }
            let changed = matches!(kind.as_str(), "action" | "note");
            if changed && relay == model.shown && model.screen == Screen::Actions {
                return vec![Task::Actions { relay }];
            }
            if kind == "transition" && relay == model.shown && model.screen == Screen::Breakers {
                return vec![Task::Transitions { relay }];
            }
        }
        News::Lost { relay, why } => {
            if let Some(known) = model.relays.get_mut(relay) {
                known.reach = Reach::Lost(why);
            }
        }
        News::Previewed { relay, asked, found } => {
            let shown = model.shown == relay;
            if let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.asked == asked)
                && shown
            {
                dialog.preview = match found {
                    Ok(preview) => Loaded::Come(preview),
                    Err(why) => Loaded::Failed(why),
                };
            }
        }
        News::Done { relay, id, result } => done(model, relay, &id, result, now),
        News::Requests { relay, found } if relay == model.shown => {
            model.history.page = loaded(found);
            if model.history.selected.is_none() {
                model.history.step(0);
                return detail(model);
            }
        }
        News::Request { relay, id, found } if relay == model.shown => {
            if model.history.selected == Some(id) {
                model.history.detail = loaded(found);
            }
        }
        News::Transitions { relay, found } if relay == model.shown => {
            model.transitions = loaded(found);
        }
        News::Actions { relay, found } if relay == model.shown => model.actions = loaded(found),
        // Of a relay that is not shown any more.
        News::Requests { .. }
        | News::Request { .. }
        | News::Transitions { .. }
        | News::Actions { .. } => {}
    }
    Vec::new()
}

fn loaded<T>(found: Result<T, String>) -> Loaded<T> {
    match found {
        Ok(value) => Loaded::Come(value),
        Err(why) => Loaded::Failed(why),
    }
}

fn done(
    model: &mut Model,
    relay: usize,
    id: &str,
    result: Result<serde_json::Value, (bool, String)>,
    now: i64,
) {
    let name = model.relays.get(relay).map(|known| known.name().to_owned()).unwrap_or_default();
    let sent = match &result {
        Ok(_) => Sent::Done(format!("done on {name}")),
        Err((true, why)) => Sent::NotConfirmed(format!("not confirmed on {name}: {why}")),
        Err((false, why)) => Sent::Refused(format!("refused: {why}")),
    };
    let words = match &sent {
        Sent::Done(words) | Sent::Refused(words) | Sent::NotConfirmed(words) => words.clone(),
        Sent::Waiting(_) => String::new(),
    };
    let found = result.ok().and_then(|value| {
        let outcome = value.get("outcome")?.as_str()?.to_owned();
        let ttft = value.get("ttft_ms").and_then(serde_json::Value::as_u64);
        Some(match ttft {
            Some(ms) => format!("test call: {outcome}, first token after {ms} ms"),
            None => format!("test call: {outcome}"),
        })
    });
    if matches!(sent, Sent::Done(_)) && model.mine.iter().any(|mine| mine == id) {
        match &mut model.last {
            Some((last, relays)) if last == id => relays.push(relay),
            last => *last = Some((id.to_owned(), vec![relay])),
        }
    }
    if let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.id == id) {
        dialog.sent.insert(relay, sent);
        let all_done = dialog.sent.values().all(|sent| matches!(sent, Sent::Done(_)));
        if all_done {
            model.dialog = None;
            model.say(format!("{words}; u takes it back"), now);
            return;
        }
    }
    model.say(found.unwrap_or(words), now);
}

/// What the engineer does at `now`. `fresh` makes an id for a change.
pub fn update(model: &mut Model, msg: Msg, now: i64, fresh: impl Fn() -> String) -> Vec<Task> {
    match msg {
        Msg::Go(screen) => {
            model.screen = screen;
            return refresh(model);
        }
        Msg::Move { down, right } => return step(model, down, right),
        Msg::Select { ladder, rung } => model.selected = crate::model::Selected { ladder, rung },
        Msg::Trouble(step) => {
            let here = model.trouble.filter(|_| step != 0);
            trouble(model, here.map_or(0, |place| place.saturating_add_signed(step)));
        }
        Msg::TroubleAt(place) => trouble(model, place),
        Msg::Force(mode) => {
            let rung = model.selected.rung.clone();
            let Some(rung) = rung else {
                model.say("select a rung first: g goes to the worst one", now);
                return Vec::new();
            };
            model.dialog = Dialog::rung(model, fresh(), &rung, mode);
            return preview(model);
        }
        Msg::Reorder => {
            let Some(ladder) = model.selected.ladder.clone() else {
                model.say("select a ladder first", now);
                return Vec::new();
            };
            let order = model.ladder(&ladder).map(|ladder| ladder.order.clone());
            let at =
                model.selected.rung.as_ref().and_then(|rung| {
                    order.unwrap_or_default().iter().position(|other| other == rung)
                });
            model.dialog = Dialog::order(model, fresh(), &ladder, at.unwrap_or(0));
            return preview(model);
        }
        Msg::Send => return send(model, now),
        Msg::Back => {
            // What is open goes, the topmost first.
            if model.help {
                model.help = false;
            } else if model.dialog.is_some() {
                model.dialog = None;
            } else {
                model.all_troubles = false;
            }
        }
        Msg::Enter => return enter(model),
        Msg::Probe | Msg::Check => return deed(model, &msg, now, fresh()),
        Msg::Undo => return undo(model, now, fresh()),
        Msg::Turn => model.turn = model.turn.next(),
        Msg::Relay => {
            let count = model.relays.len().max(1);
            model.shown = (model.shown + 1) % count;
            model.selected = crate::model::Selected::default();
            return refresh(model);
        }
        Msg::Preset(preset) => {
            model.history.preset = preset.unwrap_or_else(|| model.history.preset.next());
            model.history.selected = None;
            return refresh(model);
        }
        Msg::Refresh => {
            model.history.selected = None;
            return refresh(model);
        }
        Msg::Help => model.help = !model.help,
        Msg::AllTroubles => model.all_troubles = !model.all_troubles,
        Msg::Utc => model.utc = !model.utc,
        Msg::Theme => model.light = !model.light,
        Msg::Copy => {
            model.copy = Some(crate::summary::markdown(model, now));
            model.say("the summary is in the clipboard", now);
        }
        Msg::Action(id) => model.action = Some(id),
        Msg::Request(id) => {
            model.history.selected = Some(id);
            return detail(model);
        }
        other => return in_dialog(model, other),
    }
    Vec::new()
}

/// What is only said of an open dialog that nobody has sent.
fn in_dialog(model: &mut Model, msg: Msg) -> Vec<Task> {
    let covers = model.dialog.as_ref().map_or(0, |dialog| dialog.covers(model).len());
    let Some(dialog) = model.dialog.as_mut().filter(|dialog| !dialog.is_sent()) else {
        return Vec::new();
    };
    match (msg, &mut dialog.about) {
        (Msg::Cover, About::Rung { cover, .. }) => *cover = (*cover + 1) % covers.max(1),
        (Msg::CoverAt(place), About::Rung { cover, .. }) if place < covers => *cover = place,
        (Msg::Demote, About::Rung { mode, .. }) => *mode = Mode::Demoted,
        (Msg::Cut, About::Rung { cut, .. }) => *cut = !*cut,
        (Msg::Last(place), _) => dialog.choose_last(place),
        (Msg::Accept(ladder), _) => {
            if !dialog.accept.remove(&ladder) {
                dialog.accept.insert(ladder);
            }
        }
        (Msg::Shift { down }, _) => dialog.shift(down),
        (Msg::Choose { down }, About::Order { rungs, at, .. }) => {
            let to = if down { *at + 1 } else { at.saturating_sub(1) };
            *at = to.min(rungs.len().saturating_sub(1));
            return Vec::new();
        }
        (Msg::Reason(reason), _) => {
            // The reason changes nothing of what would happen.
            dialog.reason = reason;
            return Vec::new();
        }
        _ => return Vec::new(),
    }
    preview(model)
}

/// Asks what the dialog's change would do.
fn preview(model: &mut Model) -> Vec<Task> {
    let relay = model.shown;
    let Some(dialog) = &mut model.dialog else { return Vec::new() };
    dialog.asked += 1;
    let asked = dialog.asked;
    let Some(dialog) = &model.dialog else { return Vec::new() };
    let mut request = dialog.request(model);
    // A preview wants a reason, too; nobody reads it.
    if request.reason.is_empty() {
        request.reason = "preview".to_owned();
    }
    vec![Task::Preview { relay, asked, request }]
}

fn send(model: &mut Model, now: i64) -> Vec<Task> {
    let Some(dialog) = &model.dialog else { return Vec::new() };
    if let Some(why) = dialog.obstacle(model, now) {
        model.say(why, now);
        return Vec::new();
    }
    let request = dialog.request(model);
    let relays = model.reached(now);
    model.mine.push(request.id.clone());
    if let Some(dialog) = &mut model.dialog {
        dialog.sent = relays.iter().map(|relay| (*relay, Sent::Waiting(now))).collect();
    }
    let task = |relay| {
        let mut request = request.clone();
        // Versions are one relay's.
        if relay != model.shown {
            request.expect.clear();
        }
        Task::Change { relay, request }
    };
    relays.into_iter().map(task).collect()
}

/// What has waited too long is not confirmed; called now and then.
pub fn time_passes(model: &mut Model, now: i64) {
    let Some(dialog) = &mut model.dialog else { return };
    for sent in dialog.sent.values_mut() {
        if let Sent::Waiting(since) = sent
            && now.saturating_sub(*since) > PATIENCE
        {
            *sent = Sent::NotConfirmed(
                "not confirmed: no answer within 5 s; it is looked up by its id".to_owned(),
            );
        }
    }
}

fn refresh(model: &mut Model) -> Vec<Task> {
    let relay = model.shown;
    match model.screen {
        Screen::Board | Screen::Setup => Vec::new(),
        Screen::History => {
            model.history.page = Loaded::Asked;
            vec![Task::Requests { relay, query: model.history.query() }]
        }
        Screen::Breakers => vec![Task::Transitions { relay }],
        Screen::Actions => vec![Task::Actions { relay }],
    }
}

fn detail(model: &mut Model) -> Vec<Task> {
    let relay = model.shown;
    let Some(id) = model.history.selected else { return Vec::new() };
    model.history.detail = Loaded::Asked;
    vec![Task::Request { relay, id }]
}

fn step(model: &mut Model, down: isize, right: isize) -> Vec<Task> {
    match model.screen {
        Screen::Board => {
            move_on_board(model, down, right);
            Vec::new()
        }
        Screen::History => {
            model.history.step(down);
            detail(model)
        }
        Screen::Actions => {
            if let Loaded::Come(page) = &model.actions {
                let place =
                    page.items.iter().position(|one| Some(&one.id) == model.action.as_ref());
                let last = page.items.len().saturating_sub(1);
                let place = place.map_or(0, |place| place.saturating_add_signed(down).min(last));
                model.action = page.items.get(place).map(|action| action.id.clone());
            }
            Vec::new()
        }
        Screen::Breakers | Screen::Setup => Vec::new(),
    }
}

fn move_on_board(model: &mut Model, down: isize, right: isize) {
    let Some(board) = model.board() else { return };
    let selected = &model.selected;
    let row =
        board.ladders.iter().position(|ladder| Some(&ladder.name) == selected.ladder.as_ref());
    let last = board.ladders.len().saturating_sub(1);
    let to = row.map_or(0, |row| row.saturating_add_signed(down).min(last));
    let Some(ladder) = board.ladders.get(to) else { return };
    let place = row.and_then(|row| board.ladders.get(row)).and_then(|ladder| {
        ladder.order.iter().position(|rung| Some(rung) == selected.rung.as_ref())
    });
    let end = ladder.order.len().saturating_sub(1);
    let place = place.map_or(0, |place| place.saturating_add_signed(right).min(end));
    let rung = ladder.order.get(place).cloned();
    model.selected = crate::model::Selected { ladder: Some(ladder.name.clone()), rung };
}

/// Goes to what the trouble at this place, or the last one, is about.
fn trouble(model: &mut Model, place: usize) {
    let Some(board) = model.board() else { return };
    let lines = diagnose(board);
    let place = place.min(lines.len().saturating_sub(1));
    let Some(line) = lines.get(place) else { return };
    let is_rung = |name: &&String| board.rungs.iter().any(|rung| rung.name == **name);
    let is_ladder = |name: &&String| board.ladders.iter().any(|ladder| ladder.name == **name);
    let ladder = line.about.iter().find(is_ladder);
    // Of a ladder in trouble: its sickest rung, which is where something can be done.
    let rung = line.about.iter().find(is_rung).cloned().or_else(|| {
        let ladder = board.ladders.iter().find(|state| Some(&state.name) == ladder)?;
        let out = |name: &&String| {
            let rung = board.rungs.iter().find(|rung| rung.name == **name);
            rung.is_some_and(|rung| {
                shared::diagnose::is_out(rung, board.at) || shared::diagnose::is_failing(rung)
            })
        };
        ladder.order.iter().find(out).or_else(|| ladder.order.first()).cloned()
    });
    let ladder = ladder.cloned().or_else(|| {
        let holds = |state: &&shared::admin::LadderState| {
            rung.as_ref().is_some_and(|rung| state.order.contains(rung))
        };
        board.ladders.iter().find(holds).map(|state| state.name.clone())
    });
    model.selected = crate::model::Selected { ladder, rung };
    model.screen = Screen::Board;
    model.trouble = Some(place);
}

fn enter(model: &mut Model) -> Vec<Task> {
    if model.screen != Screen::Board {
        return Vec::new();
    }
    // Into the history of what is selected.
    model.history.tried.clone_from(&model.selected.rung);
    model.history.ladder.clone_from(&model.selected.ladder);
    model.history.preset = Preset::All;
    model.history.selected = None;
    model.screen = Screen::History;
    refresh(model)
}

fn deed(model: &mut Model, msg: &Msg, now: i64, id: String) -> Vec<Task> {
    let relay = model.shown;
    let Some(rung) = model.selected.rung.clone() else {
        model.say("select a rung first", now);
        return Vec::new();
    };
    if model.is_stale(now) {
        model.say("no news from the relay: nothing is sent", now);
        return Vec::new();
    }
    let (word, reason) = match msg {
        Msg::Probe => ("probe", "probe now, from the console"),
        _ => ("check", "test call, from the console"),
    };
    model.say(format!("{word} {rung}: sent"), now);
    let body = serde_json::json!({"id": id, "reason": reason});
    let path = vec!["rungs".to_owned(), rung, word.to_owned()];
    vec![Task::Deed { relay, id, path, body }]
}

fn undo(model: &mut Model, now: i64, id: String) -> Vec<Task> {
    let chosen = model.action.clone().filter(|_| model.screen == Screen::Actions);
    let target = match chosen {
        Some(action) => Some((action, vec![model.shown])),
        None => model.last.clone(),
    };
    let Some((action, relays)) = target else {
        model.say("nothing of yours to take back; Actions has what others did", now);
        return Vec::new();
    };
    let is_stale = |relay: &usize| model.relays.get(*relay).is_none_or(|it| it.is_stale(now));
    if relays.iter().any(is_stale) {
        model.say("no news from a relay that has it: nothing is sent", now);
        return Vec::new();
    }
    model.last = model.last.take().filter(|(last, _)| *last != action);
    model.say(format!("undo {action}: sent"), now);
    let body = serde_json::json!({"id": id, "reason": "undo, from the console"});
    let path = vec!["actions".to_owned(), action, "undo".to_owned()];
    let task = |relay| Task::Deed { relay, id: id.clone(), path: path.clone(), body: body.clone() };
    relays.into_iter().map(task).collect()
}
