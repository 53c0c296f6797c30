//! What comes from the relays, and what the passing of time does.

use crate::dialog::{Sent, TYPING};
use crate::model::{Last, Loaded, Looking, Model, Reach, Screen, View};
use crate::news::{News, NotDone};
use crate::task::{Task, Which};
use crate::{breakers, copy, dialog, history};
use shared::BreakerState;
use shared::admin::actions::{Action, ActionKind, Preview};
use shared::admin::{FeedKind, RequestPage};
use shared::remote::CallError;

/// News at `now` of ours, in milliseconds.
pub fn news(model: &mut Model, news: News, now: i64) -> Vec<Task> {
    match news {
        News::Event { relay, kind, data, at } => {
            // A newer relay may say more than this program knows: it is alive all the same.
            return event(model, relay, kind.parse().ok(), &data, at);
        }
        News::Lost { relay, why, token, gone } => {
            if let Some(known) = model.relays.get_mut(relay) {
                known.reach = Reach::Lost(why);
                known.gone = gone;
                known.lost_at.get_or_insert(now);
                known.wants_token = token;
            }
            let is_free = model.dialog.is_none() && model.palette.is_none();
            let is_free = is_free && model.history.typing.is_none() && model.token.is_none();
            if token && is_free && !model.declined.contains(&relay) {
                model.token = Some((relay, String::new()));
            }
        }
        News::Previewed { relay, asked, found } => previewed(model, relay, asked, found, now),
        News::Done { relay, id, result } => done(model, relay, &id, result, now),
        News::Requests { relay, asked, what, found } => {
            return requests(model, relay, asked, what, found, now);
        }
        News::Request { relay, id, found } => {
            if model.history.selected == Some((relay, id)) {
                model.history.detail = found.map(|detail| *detail).into();
            }
        }
        News::Transitions { relay, found } => {
            let place = model.breakers.transitions.entry(relay).or_default();
            place.renew(found);
        }
        News::Series { relay, of, asked, found } => match (of, found) {
            (Screen::History, Ok(series)) => {
                if asked == model.history.asked {
                    model.history.series.insert(relay, series);
                    model.history.group_up();
                }
            }
            (_, Ok(series)) => {
                if asked == model.breakers.asked {
                    model.breakers.series.insert(relay, series);
                }
            }
            // What is known stands; it is asked again soon.
            (_, Err(why)) if model.breakers.series.is_empty() => model.notify(why.to_string(), now),
            (_, Err(_)) => {}
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
            model.actions.entry(relay).or_default().renew(found.map(|page| page.items));
        }
        // Without it the list begins with what happens next.
        News::Past { relay, found } => {
            if let (Some(known), Ok((transitions, actions))) = (model.relays.get_mut(relay), found)
            {
                known.remember(&transitions.items, &actions.items);
            }
        }
        News::InForce { relay, found } => {
            if let (Some(known), Ok(page)) = (model.relays.get_mut(relay), found) {
                known.in_force = page.items;
            }
        }
        News::LookedUp { relay, id, found } => confirm_result(model, relay, id, found, now),
        News::Said(text) => model.notify(text, now),
    }
    Vec::new()
}

fn previewed(
    model: &mut Model,
    relay: usize,
    asked: u64,
    found: Result<Preview, CallError>,
    now: i64,
) {
    let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.asked == asked) else { return };
    dialog.answered.insert(relay, asked);
    match (&found, dialog.previews.get(&relay)) {
        // What is known of it still warns.
        (Err(why), Some(Loaded::Come(_))) => model.notify(why.to_string(), now),
        _ => {
            dialog.previews.insert(relay, found.into());
        }
    }
}

fn event(
    model: &mut Model,
    relay: usize,
    kind: Option<FeedKind>,
    data: &str,
    now: i64,
) -> Vec<Task> {
    // Of one that was never heard of nothing is shown: whoever answers first is, and stays.
    if let View::Env(index) = model.view
        && kind == Some(FeedKind::Snapshot)
        && model.relays.get(index).is_none_or(|known| known.board.is_none())
    {
        model.view = View::Env(relay);
    }
    let mut hands = false;
    if let Some(known) = model.relays.get_mut(relay) {
        let before = known.hands;
        known.apply(kind, data, now);
        hands = known.hands != before;
    }
    let mut lost: Vec<Task> = Vec::new();
    if matches!(kind, Some(FeedKind::Tick | FeedKind::Snapshot)) {
        // Back again: what was not confirmed is looked up.
        for ((of, id), looking) in &mut model.unconfirmed {
            if *of == relay && !looking.asking {
                looking.asking = true;
                lost.push(Task::LookUp { relay, id: id.clone() });
            }
        }
    }
    if !model.viewed().contains(&relay) {
        return lost;
    }
    lost.extend(shown(model, relay, kind, hands));
    lost
}

/// What an event of a relay that is shown has to be read for. `hands`: an override or an order
/// has changed, which tells no more where it ended by itself.
fn shown(model: &mut Model, relay: usize, kind: Option<FeedKind>, hands: bool) -> Vec<Task> {
    let is_shown = matches!(model.screen, Screen::Actions | Screen::Breakers);
    if hands {
        let mut tasks = vec![Task::InForce { relay }];
        tasks.extend(is_shown.then_some(Task::Actions { relay }));
        return tasks;
    }
    let Some(kind) = kind else { return Vec::new() };
    match (kind, model.screen) {
        (FeedKind::Snapshot, _) => {
            let is_new = model.relays.get(relay).is_some_and(|known| !known.has_past);
            let past = is_new.then_some(Task::Past { relay });
            past.into_iter().chain([Task::InForce { relay }]).collect()
        }
        (FeedKind::Action | FeedKind::Note, _) => {
            let mut tasks = vec![Task::InForce { relay }];
            tasks.extend(is_shown.then_some(Task::Actions { relay }));
            tasks
        }
        (FeedKind::Transition, Screen::Breakers) => {
            let query = vec![("limit".to_owned(), "500".to_owned())];
            vec![Task::Transitions { relay, query }]
        }
        (FeedKind::Ladder | FeedKind::Rung, Screen::History) => {
            model.history.stirred = true;
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn requests(
    model: &mut Model,
    relay: usize,
    asked: u64,
    what: Which,
    found: Result<RequestPage, CallError>,
    now: i64,
) -> Vec<Task> {
    if what == Which::Worst {
        if let Some(copying) = &mut model.copying {
            copying.waits_for.remove(&relay);
            let rows = found.map(|page| page.items).unwrap_or_default();
            copying.ids.extend(rows.into_iter().map(|row| row.id.to_string()));
            if copying.waits_for.is_empty() {
                copy::finish(model, now);
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
        (Which::Newer, Ok(page)) if history.follow => {
            history.rows.refresh(relay, page, sort);
        }
        (Which::Newer, Ok(page)) => history.rows.renew(relay, page),
        // It is asked again, soon enough.
        (Which::Newer, Err(_)) => {}
        (_, Ok(page)) => history.rows.add(relay, page, sort),
        (_, Err(why)) => history.rows.lose(relay, why.to_string(), sort),
    }
    if history.selected.is_none() && !history.rows.shown().is_empty() && !history.follow {
        history.step(0);
        return history::update::detail(model);
    }
    Vec::new()
}

fn done(
    model: &mut Model,
    relay: usize,
    id: &str,
    result: Result<serde_json::Value, NotDone>,
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
        Err(NotDone::MayBeDone(why)) => {
            Sent::NotConfirmed(format!("not confirmed on {name}: {why}"))
        }
        Err(NotDone::Refused(why)) => Sent::Refused(format!("refused: {why}")),
    };
    let words = match &sent {
        Sent::Done(words) | Sent::Refused(words) | Sent::NotConfirmed(words) => words.clone(),
        Sent::Waiting(_) => String::new(),
    };
    let is_done = matches!(sent, Sent::Done(_));
    if matches!(sent, Sent::NotConfirmed(_)) {
        model.unconfirmed.insert((relay, id.to_owned()), Looking::default());
    } else {
        model.unconfirmed.remove(&(relay, id.to_owned()));
    }
    let (mut said, mut can_undo) = (vec![words.clone()], false);
    if let Some(mine) = model.mine.iter_mut().find(|mine| mine.id == id) {
        // One relay's word does not wipe out another's.
        mine.heard.insert(relay, words);
        said = mine.heard.values().cloned().collect();
        can_undo = is_done && mine.change.is_some();
        let (change, undoes) = (mine.change.clone(), mine.undoes.clone());
        remember(model, relay, id, change.filter(|_| is_done), undoes.filter(|_| is_done));
    }
    let said = said.join("; ");
    if let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.id == id) {
        dialog.sent.insert(relay, sent);
        let all_done = dialog.sent.values().all(|sent| matches!(sent, Sent::Done(_)));
        if all_done {
            model.dialog = None;
            model.typing_until = Some(now + TYPING);
        }
    }
    let undo = if can_undo { "; u takes it back" } else { "" };
    model.offer(format!("{said}{undo}"), now);
}

/// What became of a change that was not confirmed.
fn confirm_result(
    model: &mut Model,
    relay: usize,
    id: String,
    found: Result<Option<Box<Action>>, CallError>,
    now: i64,
) {
    let name = model.names(&[relay]);
    let Some(looking) = model.unconfirmed.get_mut(&(relay, id.clone())) else { return };
    looking.asking = false;
    looking.looks += 1;
    let given_up = looking.looks >= Looking::MOST;
    let result = match found {
        // A call to a provider is there before its answer is.
        Ok(Some(action)) if action.kind == ActionKind::Check => match &action.check {
            Some(check) => Ok(serde_json::to_value(check).unwrap_or_default()),
            None if given_up => {
                Err(NotDone::Refused(format!("{name} has not told what came of it")))
            }
            None => return,
        },
        Ok(Some(action)) => Ok(serde_json::to_value(action).unwrap_or_default()),
        // It may be on its way yet.
        Ok(None) if looking.looks < Looking::ABSENT => return,
        Ok(None) => {
            Err(NotDone::Refused(format!("{name} has never heard of it: it was not done there")))
        }
        // It is asked again with the next sign of life.
        Err(_) if !given_up => return,
        Err(why) => Err(NotDone::Refused(format!("it is not known whether {name} did it: {why}"))),
    };
    done(model, relay, &id, result, now);
}

/// What can be taken back with `u`, after a relay did something.
fn remember(
    model: &mut Model,
    relay: usize,
    id: &str,
    change: Option<String>,
    undoes: Option<String>,
) {
    if let Some(what) = change {
        let place = |id: &str| model.mine.iter().position(|mine| mine.id == id);
        let is_older = model.last.as_ref().is_some_and(|last| place(id) < place(&last.id));
        match &mut model.last {
            Some(last) if last.id == id => last.relays.push(relay),
            // A late answer to an earlier change: the last one is still the last.
            Some(_) if is_older => {}
            last => *last = Some(Last { id: id.to_owned(), what, relays: vec![relay] }),
        }
    }
    if let (Some(action), Some(last)) = (undoes, &mut model.last)
        && last.id == action
    {
        last.relays.retain(|known| *known != relay);
        if last.relays.is_empty() {
            model.last = None;
        }
    }
}

/// What is only a matter of time, called now and then and after every news: boards are put
/// together, what has waited too long is not confirmed, alerts are raised.
pub fn time_passes(model: &mut Model, now: i64) -> Vec<Task> {
    model.merge(now);
    model.alert(now);
    if model.copying.as_ref().is_some_and(|copying| now > copying.until) {
        copy::finish(model, now);
    }
    let mut tasks = history::update::newer(model, now);
    tasks.extend(breakers::update::curves(model, now));
    let Some(mut dialog) = model.dialog.take() else { return tasks };
    let changed = dialog.keep_up(model, now);
    let patience = dialog.patience();
    for sent in dialog.sent.values_mut() {
        if let Sent::Waiting(since) = sent
            && now.saturating_sub(*since) > patience
        {
            *sent = Sent::NotConfirmed(format!(
                "not confirmed: no answer within {} s; it is looked up by its id",
                patience / 1_000
            ));
        }
    }
    model.dialog = Some(dialog);
    if changed {
        tasks.extend(dialog::update::preview(model));
    }
    tasks
}

/// Whether something is on the screen that moves with time alone.
#[must_use]
pub fn is_counting(model: &Model, now: i64) -> bool {
    let waits = model.dialog.as_ref().is_some_and(dialog::Dialog::is_sent);
    let said = model.said.as_ref().is_some_and(|(_, until)| now < *until);
    let ends = model.board().is_some_and(|board| {
        board.rungs.iter().any(|rung| {
            rung.forced.is_some()
                || rung.health.state != BreakerState::Closed
                || rung.health.hold.is_some()
                || rung.health.hard_down.is_some()
        }) || board.ladders.iter().any(|ladder| ladder.until_at.is_some())
    });
    let lost = model.viewed().into_iter().filter_map(|index| model.relays.get(index));
    let lost = lost.into_iter().any(|known| known.is_stale(now));
    waits || said || ends || lost || !model.lines.is_empty()
}
