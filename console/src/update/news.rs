//! What comes from the relays, and what the passing of time does.

use super::{Task, Which, finish_copy, reading};
use crate::dialog::{PATIENCE, Sent};
use crate::model::{Loaded, Model, Reach, Screen};
use shared::RequestId;
use shared::admin::actions::{ActionPage, Preview};
use shared::admin::{RequestDetail, RequestPage, Series, Summary, TransitionPage};

/// What came from a relay.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum News {
    /// An event of its feed.
    Event { relay: usize, kind: String, data: String },
    /// Its feed is closed, and why; `token`: it wants one, or another one.
    Lost { relay: usize, why: String, token: bool },
    /// What a change would do.
    Previewed { relay: usize, asked: u64, found: Result<Preview, String> },
    /// How a change or a deed went; an error says whether it may have been done.
    Done { relay: usize, id: String, result: Result<serde_json::Value, (bool, String)> },
    /// Requests.
    Requests { relay: usize, asked: u64, what: Which, found: Result<RequestPage, String> },
    /// One request.
    Request { relay: usize, id: RequestId, found: Result<Box<RequestDetail>, String> },
    /// Transitions.
    Transitions { relay: usize, found: Result<TransitionPage, String> },
    /// Curves.
    Series { relay: usize, of: Screen, found: Result<Series, String> },
    /// Sums.
    Summary { relay: usize, asked: u64, found: Result<Summary, String> },
    /// Actions.
    Actions { relay: usize, found: Result<ActionPage, String> },
    /// What is in force.
    InForce { relay: usize, found: Result<ActionPage, String> },
    /// Something that the window itself has to say, such as a file that could not be written.
    Said(String),
}

/// News at `now` of ours, in milliseconds.
pub fn news(model: &mut Model, news: News, now: i64) -> Vec<Task> {
    match news {
        News::Event { relay, kind, data } => return event(model, relay, (&kind, &data), now),
        News::Lost { relay, why, token } => {
            if let Some(known) = model.relays.get_mut(relay) {
                known.reach = Reach::Lost(why);
            }
            if token && model.token.is_none() && model.dialog.is_none() {
                model.token = Some((relay, String::new()));
            }
        }
        News::Previewed { relay, asked, found } => {
            let dialog = model.dialog.as_mut().filter(|dialog| dialog.asked == asked);
            if let Some(dialog) = dialog {
                dialog.previews.insert(relay, found.into());
            }
        }
        News::Done { relay, id, result } => done(model, relay, &id, result, now),
        News::Requests { relay, asked, what, found } => {
            return requests(model, (relay, asked, what), found, now);
        }
        News::Request { relay, id, found } => {
            if model.history.selected == Some((relay, id)) {
                model.history.detail = found.map(|detail| *detail).into();
            }
        }
        News::Transitions { relay, found } => {
            model.breakers.transitions.insert(relay, found.into());
        }
        News::Series { relay, of, found } => match (of, found) {
            (Screen::History, Ok(series)) => {
                model.history.series.insert(relay, series);
                model.history.group_up();
            }
            (_, Ok(series)) => {
                model.breakers.series.insert(relay, series);
            }
            (_, Err(why)) => model.say(why, now),
        },
        News::Summary { relay, asked, found } => {
            if let Ok(sums) = found
                && asked == model.history.asked
            {
                let count = sums.items.iter().map(|row| row.count).sum();
                model.history.totals.insert(relay, count);
            }
        }
        News::Actions { relay, found } => {
            model.actions.insert(relay, found.map(|page| page.items).into());
        }
        News::InForce { relay, found } => {
            if let (Some(known), Ok(page)) = (model.relays.get_mut(relay), found) {
                known.in_force = page.items;
            }
        }
        News::Said(text) => model.say(text, now),
    }
    Vec::new()
}

fn event(model: &mut Model, relay: usize, (kind, data): (&str, &str), now: i64) -> Vec<Task> {
    if let Some(known) = model.relays.get_mut(relay) {
        known.apply(kind, data, now);
    }
    if !model.viewed().contains(&relay) {
        return Vec::new();
    }
    match (kind, model.screen) {
        ("snapshot", _) => vec![Task::InForce { relay }],
        ("action" | "note", screen) => {
            let mut tasks = vec![Task::InForce { relay }];
            let is_shown = matches!(screen, Screen::Actions | Screen::Breakers);
            tasks.extend(is_shown.then_some(Task::Actions { relay }));
            tasks
        }
        // What an override ended by itself is told by its rung only.
        ("transition", Screen::Breakers) => {
            let query = vec![("limit".to_owned(), "500".to_owned())];
            vec![Task::Transitions { relay, query }]
        }
        ("ladder" | "rung", Screen::History) => {
            model.history.stirred = true;
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn requests(
    model: &mut Model,
    (relay, asked, what): (usize, u64, Which),
    found: Result<RequestPage, String>,
    now: i64,
) -> Vec<Task> {
    if what == Which::Worst {
        if let Some(copying) = &mut model.copying {
            copying.waits_for.remove(&relay);
            let rows = found.map(|page| page.items).unwrap_or_default();
            copying.ids.extend(rows.into_iter().map(|row| row.id.to_string()));
            if copying.waits_for.is_empty() {
                finish_copy(model, now);
            }
        }
        return Vec::new();
    }
    let history = &mut model.history;
    if asked != history.asked {
        return Vec::new();
    }
    let sort = history.order();
    match (what, found) {
        (Which::Newer, Ok(page)) if history.follow => history.rows.refresh(relay, page, sort),
        (Which::Newer, Ok(page)) => history.rows.renew(relay, page),
        // It is asked again, soon enough.
        (Which::Newer, Err(_)) => {}
        (_, Ok(page)) => history.rows.add(relay, page, sort),
        (_, Err(why)) => history.rows.lose(relay, why, sort),
    }
    if history.selected.is_none() && !history.rows.shown().is_empty() && !history.follow {
        history.step(0);
        return reading::detail(model);
    }
    Vec::new()
}

fn done(
    model: &mut Model,
    relay: usize,
    id: &str,
    result: Result<serde_json::Value, (bool, String)>,
    now: i64,
) {
    let name = model.relays.get(relay).map(|known| known.name().to_owned()).unwrap_or_default();
    let at = |value: &serde_json::Value| {
        let at: shared::UnixMillis = value.get("at")?.as_str()?.parse().ok()?;
        // Its hour and on, in UTC.
        at.to_string().get(11..19).map(|clock| format!(" at {clock} UTC"))
    };
    let check = |value: &serde_json::Value| {
        let outcome = value.get("outcome")?.as_str()?.to_owned();
        let ttft = value.get("ttft_ms").and_then(serde_json::Value::as_u64);
        let ttft = ttft.map(|ms| format!(", first token after {ms} ms")).unwrap_or_default();
        Some(format!("test call by {name}: {outcome}{ttft}"))
    };
    let sent = match &result {
        Ok(value) => Sent::Done(
            check(value)
                .unwrap_or_else(|| format!("done on {name}{}", at(value).unwrap_or_default())),
        ),
        Err((true, why)) => Sent::NotConfirmed(format!("not confirmed on {name}: {why}")),
        Err((false, why)) => Sent::Refused(format!("refused: {why}")),
    };
    let words = match &sent {
        Sent::Done(words) | Sent::Refused(words) | Sent::NotConfirmed(words) => words.clone(),
        Sent::Waiting(_) => String::new(),
    };
    let is_mine = model.mine.iter().any(|mine| mine == id);
    if matches!(sent, Sent::Done(_)) && is_mine {
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
            let undo = if is_mine { "; u takes it back" } else { "" };
            model.offer(format!("{words}{undo}"), now);
            return;
        }
    }
    model.say(words, now);
}

/// What is only a matter of time, called now and then and after every news: boards are put
/// together, what has waited too long is not confirmed, alerts are raised.
pub fn time_passes(model: &mut Model, now: i64) -> Vec<Task> {
    model.merge(now);
    model.alert(now);
    if model.copying.as_ref().is_some_and(|copying| now > copying.until) {
        finish_copy(model, now);
    }
    let mut tasks = reading::newer(model, now);
    let Some(mut dialog) = model.dialog.take() else { return tasks };
    let changed = dialog.keep_up(model);
    for sent in dialog.sent.values_mut() {
        if let Sent::Waiting(since) = sent
            && now.saturating_sub(*since) > PATIENCE
        {
            *sent = Sent::NotConfirmed(
                "not confirmed: no answer within 5 s; it is looked up by its id".to_owned(),
            );
        }
    }
    model.dialog = Some(dialog);
    if changed {
        tasks.extend(super::sending::preview(model));
    }
    tasks
}

/// Whether something is on the screen that moves with time alone.
#[must_use]
pub fn is_counting(model: &Model, now: i64) -> bool {
    let waits = model.dialog.as_ref().is_some_and(crate::dialog::Dialog::is_sent);
    let said = model.said.as_ref().is_some_and(|(_, until)| now < *until);
    let ends = model.board().is_some_and(|board| {
        board.rungs.iter().any(|rung| {
            rung.forced.is_some()
                || rung.health.state != "closed"
                || rung.health.hold.is_some()
                || rung.health.hard_down.is_some()
        }) || board.ladders.iter().any(|ladder| ladder.until_at.is_some())
    });
    let lost = model.viewed().into_iter().filter_map(|index| model.relays.get(index));
    let lost = lost.into_iter().any(|known| known.is_stale(now));
    waits || said || ends || lost || !model.lines.is_empty()
}

impl<T> Loaded<T> {
    /// Whether an answer is awaited.
    pub const fn is_asked(&self) -> bool {
        matches!(self, Self::Asked)
    }
}
