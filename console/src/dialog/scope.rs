//! What a dialog covers and reaches on the boards as they are now, what hinders it, and how a
//! relay is asked for it.

use super::about::{About, OtherAction};
use super::order;
use super::state::Dialog;
use crate::model::Model;
use shared::admin::RungState;
use shared::admin::changes::{Change, ChangeRequest, ConfigWord, NewOrder, Target};
use shared::{OrderSource, OverrideMode};
use std::collections::BTreeMap;

impl Dialog {
    /// By relay: the versions of what it is about, as the boards have them.
    pub(super) fn versions(&self, model: &Model) -> BTreeMap<usize, BTreeMap<String, u64>> {
        let covered = self.covered(model);
        let of = |index: usize| {
            let board = model.relays.get(index)?.board.as_ref()?;
            let found: BTreeMap<String, u64> = match &self.about {
                About::Rungs { .. } => {
                    let is_covered = |rung: &&RungState| covered.contains(&rung.name);
                    let version = |rung: &RungState| {
                        let forced = rung.forced.as_ref().map(|forced| forced.version);
                        // An older relay does not tell it where there is no override.
                        let version = rung.override_version.or(forced)?;
                        Some((format!("rung/{}", rung.name), version))
                    };
                    board.rungs.iter().filter(is_covered).filter_map(version).collect()
                }
                About::Order { ladder, .. } | About::ConfigOrder { ladder } => {
                    let state = board.ladders.iter().find(|state| state.name == *ladder)?;
                    [(format!("ladder/{ladder}"), state.version)].into()
                }
                About::Other(_) => BTreeMap::new(),
            };
            Some((index, found))
        };
        self.relays.iter().copied().filter_map(of).collect()
    }

    /// What it is about was chosen anew: the versions are those that are seen now.
    pub fn seen_now(&mut self, model: &Model) {
        self.expect = self.versions(model);
    }

    /// Looks whether what it is about, or whom it reaches, has changed: then it says so, keeps
    /// what was meant, and wants to be confirmed anew. Tells whether it has.
    pub fn keep_up(&mut self, model: &Model, now: i64) -> bool {
        if self.is_sent() {
            return false;
        }
        let reach = self.targets(model, now);
        let back: Vec<usize> =
            reach.iter().copied().filter(|relay| !self.reach.contains(relay)).collect();
        let was_open = !self.reach.is_empty();
        self.reach = reach;
        if was_open && !back.is_empty() {
            self.changed = Some(format!("{} can be reached now, too", model.names(&back)));
        }
        let is_wider = was_open && !back.is_empty();
        let versions = self.versions(model);
        let moved: Vec<String> = versions
            .iter()
            .flat_map(|(index, seen)| {
                let known = self.expect.get(index);
                let is_new = move |(key, version): &(&String, &u64)| {
                    known.is_some_and(|known| known.get(*key) != Some(*version))
                };
                seen.iter().filter(is_new).map(|(key, _)| key.clone())
            })
            .collect();
        // A relay that is lost has not changed its mind.
        let old = |(index, seen): (&usize, &BTreeMap<String, u64>)| {
            self.expect.get(index).is_some_and(|known| known != seen)
        };
        let changed = versions.iter().any(old);
        for (index, seen) in versions {
            self.expect.insert(index, seen);
        }
        if !changed {
            return is_wider;
        }
        let is_moved = |name: &String| moved.contains(&format!("rung/{name}"));
        let covered: Vec<String> = self.covered(model).into_iter().filter(is_moved).collect();
        self.changed = Some(self.about.rebase(model, &covered));
        true
    }

    /// What the change can cover: the rung, then its provider, then its domains; each with
    /// the words for it. Several marked rungs are what they are.
    #[must_use]
    pub fn covers(&self, model: &Model) -> Vec<(Target, String)> {
        let About::Rungs { rungs, .. } = &self.about else { return Vec::new() };
        let [rung] = rungs.as_slice() else {
            let words = |name: &String| (Target::Rung(name.clone()), name.clone());
            return rungs.iter().map(words).collect();
        };
        let mut all = vec![(Target::Rung(rung.clone()), "this rung".to_owned())];
        let (Some(board), Some(state)) = (model.board(), model.rung(rung)) else {
            return all;
        };
        let count = |is_in: &dyn Fn(&RungState) -> bool| {
            board.rungs.iter().filter(|rung| is_in(rung)).count()
        };
        // Alone in it, the rung is all that it would cover.
        let of_provider = count(&|other| other.provider == state.provider);
        if of_provider > 1 {
            let words = format!("all {of_provider} of {}", state.provider);
            all.push((Target::Provider(state.provider.clone()), words));
        }
        // Choices that would change the same rungs are one choice.
        let names = |is_in: &dyn Fn(&RungState) -> bool| -> Vec<String> {
            board.rungs.iter().filter(|rung| is_in(rung)).map(|rung| rung.name.clone()).collect()
        };
        let mut known = vec![names(&|other| other.provider == state.provider)];
        for domain in &state.domains {
            let of_domain = count(&|other| other.domains.contains(domain));
            let all_of_it = names(&|other| other.domains.contains(domain));
            if of_domain > 1 && !known.contains(&all_of_it) {
                known.push(all_of_it);
                all.push((Target::Domain(domain.clone()), format!("all {of_domain} in {domain}")));
            }
        }
        all
    }

    /// The rungs that it changes.
    #[must_use]
    pub fn covered(&self, model: &Model) -> Vec<String> {
        let About::Rungs { rungs, cover, .. } = &self.about else { return Vec::new() };
        let target = match rungs.as_slice() {
            [_] => self.covers(model).into_iter().nth(*cover).map(|(target, _)| target),
            _ => None,
        };
        let is_in = |rung: &&RungState| match &target {
            Some(Target::Provider(name)) => rung.provider == *name,
            Some(Target::Domain(name)) => rung.domains.contains(name),
            _ => rungs.contains(&rung.name),
        };
        let board = model.board().into_iter().flat_map(|board| &board.rungs);
        board.filter(is_in).map(|rung| rung.name.clone()).collect()
    }

    /// The relays that it goes to.
    #[must_use]
    pub fn targets(&self, model: &Model, now: i64) -> Vec<usize> {
        let fresh = |relays: &[usize]| -> Vec<usize> {
            relays.iter().copied().filter(|relay| model.is_fresh(*relay, now)).collect()
        };
        let reached = fresh(&self.relays);
        match &self.about {
            // What one relay has journaled is not the others'.
            About::Other(
                OtherAction::Undo { relays, .. } | OtherAction::EndNote { relays, .. },
            ) => fresh(relays),
            // One call tells enough, and costs once.
            About::Other(OtherAction::Check { .. }) => reached.into_iter().take(1).collect(),
            _ => reached,
        }
    }

    /// Those that it is meant for and does not reach; one that was never heard of may be one.
    #[must_use]
    pub fn unreached(&self, model: &Model, now: i64) -> Vec<usize> {
        let meant = match &self.about {
            About::Other(
                OtherAction::Undo { relays, .. } | OtherAction::EndNote { relays, .. },
            ) => relays.clone(),
            About::Other(OtherAction::Check { .. }) => return Vec::new(),
            _ if self.whole => model.unreached(now).into_iter().chain(model.viewed()).collect(),
            _ => self.relays.clone(),
        };
        // One that was heard of since it was opened is not among its own.
        let targets = self.targets(model, now);
        let mut all: Vec<usize> = meant.into_iter().filter(|it| !targets.contains(it)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Why it cannot be done now; `None`: it can.
    #[must_use]
    pub fn obstacle(&self, model: &Model, now: i64) -> Option<String> {
        if self.is_sent() {
            return Some("it was sent".to_owned());
        }
        if self.targets(model, now).is_empty() {
            let name = model.lead().map_or("the relay", crate::model::WatchedRelay::name);
            return Some(format!("no news from {name}: what you see is old"));
        }
        let may_change = |index: &usize| {
            let board = model.relays.get(*index).and_then(|known| known.board.as_ref());
            board.is_none_or(|board| board.relay.you.role != shared::admin::Role::Viewer)
        };
        if !self.targets(model, now).iter().all(may_change) {
            return Some("your token may only look".to_owned());
        }
        if self.reason_to_send().is_empty() {
            let is_note = matches!(self.about, About::Other(OtherAction::Note { .. }));
            let why =
                if is_note { "write the note" } else { "say why, for whoever reads it at night" };
            return Some(why.to_owned());
        }
        let lost = self.unaccepted();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            return Some(format!(
                "no rung would be left of {lost}: accept that, or make it the last choice"
            ));
        }
        if let About::Order { ladder, .. } | About::ConfigOrder { ladder } = &self.about
            && model.merged.as_ref().is_some_and(|merged| merged.differ.contains(ladder))
        {
            return Some(format!(
                "{ladder} differs between relays: go to one of them first (Esc, r)"
            ));
        }
        if let About::Order { ladder, rungs, seen, .. } = &self.about
            && rungs == seen
            // An operator's order may be sent again with another end.
            && model.ladder(ladder).is_some_and(|ladder| ladder.source == OrderSource::Config)
        {
            return Some("nothing changes: this is the order in force".to_owned());
        }
        if self.drawn != self.asked {
            return Some("the preview of this change is on its way".to_owned());
        }
        let env = self.must_type(model);
        if let Some(env) = env.filter(|env| *env != self.typed.trim()) {
            return Some(format!("type {env} to take a ladder's last rung there"));
        }
        None
    }

    /// What must be typed out: the env of a protected relay, where a ladder would lose its
    /// last rung.
    #[must_use]
    pub fn must_type(&self, model: &Model) -> Option<String> {
        let board = model.board()?;
        let boards = self.relays.iter().filter_map(|it| model.relays.get(*it)?.board.as_ref());
        let protected = boards.into_iter().any(|board| board.relay.protected);
        (protected && !self.lost().is_empty()).then(|| board.relay.env.clone()).flatten()
    }

    /// The change as a relay is asked for it; `None`: it is no change.
    #[must_use]
    pub fn request(&self, model: &Model, relay: usize) -> Option<ChangeRequest> {
        let changes = match &self.about {
            About::Rungs { rungs, mode, cover, cut } => {
                let covers = self.covers(model).into_iter().map(|(target, _)| target);
                let targets: Vec<_> = match rungs.len() {
                    1 => covers.skip(*cover).take(1).collect(),
                    _ => covers.collect(),
                };
                let cut_streams = *cut && *mode == OverrideMode::ForcedOpen;
                let change = |target| Change::Override { target, mode: *mode, cut_streams };
                targets.into_iter().map(change).collect()
            }
            About::Order { ladder, rungs, .. } => {
                let order = NewOrder::Rungs(rungs.clone());
                vec![Change::Order { ladder: ladder.clone(), order }]
            }
            About::ConfigOrder { ladder } => {
                let order = NewOrder::Config(ConfigWord::Config);
                vec![Change::Order { ladder: ladder.clone(), order }]
            }
            // Only its preview is requested so.
            About::Other(OtherAction::Undo { back, .. }) if !back.is_empty() => back.clone(),
            About::Other(_) => return None,
        };
        Some(ChangeRequest {
            id: self.id.clone(),
            reason: self.reason.trim().to_owned(),
            ttl: self.ttl(),
            changes,
            expect: self.expect.get(&relay).cloned().unwrap_or_default(),
            accept: self.accept.iter().cloned().collect(),
        })
    }
}

impl About {
    /// Puts what was meant on top of what the relay has now; gives the words for what changed.
    fn rebase(&mut self, model: &Model, covered: &[String]) -> String {
        match self {
            Self::Rungs { .. } => {
                let words = |name: &String| {
                    let forced = model.rung(name)?.forced.as_ref();
                    Some(match forced {
                        Some(forced) => format!(
                            "{name} is {} now{}",
                            forced.mode.spaced(" "),
                            forced.by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default()
                        ),
                        None => format!("{name} is back to auto now"),
                    })
                };
                covered.iter().filter_map(words).collect::<Vec<_>>().join("; ")
            }
            Self::Order { ladder, rungs, seen, at, moves } => {
                let Some(state) = model.ladder(ladder) else { return format!("{ladder} is gone") };
                let chosen = rungs.get(*at).cloned();
                seen.clone_from(&state.order);
                *rungs = order::again(&state.order, moves);
                *at = chosen
                    .and_then(|name| rungs.iter().position(|rung| *rung == name))
                    .unwrap_or(0);
                let by = state.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
                format!("{ladder} has another order now{by}; yours is put on top of it")
            }
            Self::ConfigOrder { ladder } => format!("{ladder} has another order now"),
            Self::Other(_) => String::new(),
        }
    }
}
