//! Alerts: what is worth calling somebody for who looks elsewhere. Each is raised once, until
//! it clears. A breaker that opens and is absorbed raises none.

use super::lines::lines;
use super::merged::merge;
use super::watched::WatchedRelay;
use shared::diagnose::{Level, Rule, Trouble, is_failing, is_out};
use shared::{OrderSource, UnixMillis};
use std::collections::{BTreeMap, BTreeSet};

/// A relay that is lost for so long, in milliseconds.
const LOST: i64 = 15_000;
/// What an operator set and ends within so long.
const ENDING: i64 = 120_000;
/// Twice the usual spend for so long.
const DEAR: i64 = 300_000;
/// A journal that fails for so long: one late commit is no reason to wake anybody.
const UNWRITTEN: i64 = 10_000;
/// One that is gone for so long has cleared.
const CLEAR: i64 = 60_000;
/// After an override has ended its rung is watched for so long.
const WATCHED: i64 = 300_000;
/// One that is muted is silent for so long.
pub const MUTED: i64 = 1_800_000;

/// Something to be called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// What it is about: as long as this stands it is not raised again.
    pub key: String,
    /// The words.
    pub text: String,
}

/// What stands, and what is muted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alerts {
    /// What stands, the worst first.
    pub standing: Vec<Alert>,
    /// By key: until when it is muted, by our clock.
    pub muted: BTreeMap<String, i64>,
    /// Raised and not told yet.
    pub fresh: Vec<Alert>,
    /// By key: since when it holds, told or not.
    since: BTreeMap<String, i64>,
    /// By relay: rungs that had an override.
    forced: BTreeSet<(String, String)>,
    /// By relay: rungs whose override ended, and when.
    ended: BTreeMap<(String, String), i64>,
    /// When each that was raised was last so.
    told: BTreeMap<String, i64>,
}

impl Alerts {
    /// Whether it is muted at `now`.
    #[must_use]
    pub fn is_muted(&self, key: &str, now: i64) -> bool {
        self.muted.get(key).is_some_and(|until| *until > now)
    }

    /// The one that the window's title tells: the worst that is not muted.
    #[must_use]
    pub fn worst(&self, now: i64) -> Option<&Alert> {
        self.standing.iter().find(|alert| !self.is_muted(&alert.key, now))
    }

    /// Silences the one that the title tells; gives its words.
    pub fn mute(&mut self, now: i64) -> Option<String> {
        let worst = self.worst(now)?.clone();
        self.muted.insert(worst.key, now + MUTED);
        Some(worst.text)
    }

    /// Raises what is due at `now` of these relays: `envs` are their names, and their relays.
    pub fn raise(&mut self, relays: &[WatchedRelay], envs: &[(String, Vec<usize>)], now: i64) {
        let (mut all, mut since) = (Vec::new(), BTreeMap::new());
        for (name, env) in envs {
            let merged = merge(relays, env, now);
            let lines = lines(relays, env, merged.as_ref(), now);
            all.extend(of_lines(&lines, name, (&self.since, &mut since), now));
        }
        self.since = since;
        all.extend(relays.iter().filter_map(|known| lost(known, now)));
        for known in relays.iter().filter(|known| !known.is_stale(now)) {
            all.extend(hands(known, self, now));
        }
        // Several relays say the same of one thing.
        let mut seen = BTreeSet::new();
        all.retain(|alert| seen.insert(alert.key.clone()));
        self.stand(all, now);
    }

    /// How it stands at `now`: what is new is added to [`Self::fresh`].
    fn stand(&mut self, all: Vec<Alert>, now: i64) {
        self.muted.retain(|_, until| *until > now);
        // What comes and goes around a limit is the same alert.
        self.told.retain(|_, last| now - *last < CLEAR);
        let is_new = |alert: &&Alert| {
            !self.told.contains_key(&alert.key) && !self.muted.contains_key(&alert.key)
        };
        let fresh: Vec<Alert> = all.iter().filter(is_new).cloned().collect();
        self.fresh.extend(fresh);
        let loud = all.iter().filter(|alert| !self.muted.contains_key(&alert.key));
        self.told.extend(loud.map(|alert| (alert.key.clone(), now)));
        self.standing = all;
    }
}

/// Since when each thing holds: what was known, and what is.
type Since<'a> = (&'a BTreeMap<String, i64>, &'a mut BTreeMap<String, i64>);

fn of_lines(lines: &[Trouble], env: &str, (known, since): Since<'_>, now: i64) -> Vec<Alert> {
    let mut all = Vec::new();
    for line in lines {
        let about = line.about.join("+");
        let key = match line.rule {
            Rule::Users if line.level == Level::Broken => format!("users/{about}"),
            Rule::NoRung => format!("no rung/{about}"),
            Rule::Refused => format!("refused/{about}"),
            Rule::Journal => format!("journal/{}", relay_of(line)),
            Rule::Spend => format!("spend/{about}"),
            _ => continue,
        };
        let key = format!("{env}/{key}");
        let patience = match line.rule {
            Rule::Journal => UNWRITTEN,
            Rule::Spend => DEAR,
            _ => 0,
        };
        let began = known.get(&key).copied().unwrap_or(now);
        since.insert(key.clone(), began);
        if now - began >= patience {
            all.push(Alert { key, text: line.text.clone() });
        }
    }
    all
}

/// The relay's name, which is in front where there are several.
fn relay_of(line: &Trouble) -> &str {
    line.text.split(':').next().unwrap_or_default()
}

fn lost(known: &WatchedRelay, now: i64) -> Option<Alert> {
    // One that was never heard of is lost since its first refusal.
    let age = known.age(now).or_else(|| known.lost_at.map(|at| now - at));
    let age = age.filter(|age| *age >= LOST)?;
    let name = known.name();
    let text = format!("{name} is lost for {}", shared::figures::span(age));
    Some(Alert { key: format!("lost/{}", known.url), text })
}

/// What operators set on a relay: about to end, or ended on a rung that is sick within a while.
fn hands(known: &WatchedRelay, alerts: &mut Alerts, now: i64) -> Vec<Alert> {
    let Some(board) = &known.board else { return Vec::new() };
    let at = UnixMillis(now + known.offset.get());
    let env = board.relay.env.as_deref().unwrap_or_else(|| known.name());
    let mut all = Vec::new();
    let soon = |until: UnixMillis| until.0 - at.0 <= ENDING;
    for rung in &board.rungs {
        let name = &rung.name;
        let here = (known.url.clone(), name.clone());
        if let Some(forced) = &rung.forced {
            alerts.forced.insert(here.clone());
            alerts.ended.remove(&here);
            if forced.until_at.is_some_and(soon) {
                let mode = forced.mode.spaced(" ");
                let text = format!("{name} {mode} ends within 2 min");
                all.push(Alert { key: format!("{env}/ending/{name}"), text });
            }
        } else if alerts.forced.remove(&here) {
            alerts.ended.insert(here.clone(), now);
        }
        let Some(since) = alerts.ended.get(&here) else { continue };
        // A rung that was forced open is probed first: that alone is no sickness.
        if is_out(rung, at) || is_failing(rung) {
            let text = format!("{name}: its override has ended, and it is sick");
            all.push(Alert { key: format!("{env}/ended/{name}"), text });
        } else if now - since > WATCHED {
            alerts.ended.remove(&here);
        }
    }
    for ladder in board.ladders.iter().filter(|ladder| ladder.source != OrderSource::Config) {
        if ladder.until_at.is_some_and(soon) {
            let text = format!("{}: its order ends within 2 min", ladder.name);
            all.push(Alert { key: format!("{env}/ending order/{}", ladder.name), text });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::settings::Settings;
    use shared::admin::Board;
    use shared::admin::sample::{self, NIGHT};
    use shared::{BreakerState, OverrideMode};

    fn model(change: impl Fn(&mut Board)) -> Model {
        let relays = vec!["http://r".to_owned()];
        let mut model = Model::new(Settings { relays, ..Settings::default() });
        tell(&mut model, 0, change);
        model
    }

    /// A new snapshot, after so many milliseconds.
    fn tell(model: &mut Model, after: i64, change: impl Fn(&mut Board)) {
        let mut board = sample::calm(&[("chat", &["sol", "opus"])]);
        board.at.0 += after;
        change(&mut board);
        let data = serde_json::to_string(&board).unwrap();
        model.relays[0].apply(Some(shared::admin::FeedKind::Snapshot), &data, NIGHT.0 + after);
        model.merge(NIGHT.0 + after);
        model.alert(NIGHT.0 + after);
    }

    fn fresh(model: &mut Model) -> Vec<String> {
        std::mem::take(&mut model.alerts.fresh).into_iter().map(|alert| alert.key).collect()
    }

    #[test]
    fn each_is_raised_once_until_it_clears() {
        let hurt = |board: &mut Board| board.ladders[0].users.failed = 40;
        let mut model = model(hurt);
        assert_eq!(fresh(&mut model), ["PROD/users/chat"]);
        tell(&mut model, 1_000, hurt);
        assert!(fresh(&mut model).is_empty(), "it stands");
        tell(&mut model, 2_000, |_| {});
        assert!(model.alerts.standing.is_empty());
        tell(&mut model, 3_000, hurt);
        assert!(fresh(&mut model).is_empty(), "it went and came around its limit");
        tell(&mut model, 4_000, |_| {});
        tell(&mut model, 3_000 + CLEAR, hurt);
        assert_eq!(fresh(&mut model), ["PROD/users/chat"], "it came again");
    }

    #[test]
    fn a_breaker_that_opens_and_is_absorbed_raises_none() {
        let mut model = model(|board| sample::open(&mut board.rungs[0], 4));
        assert!(!model.lines.is_empty());
        assert!(fresh(&mut model).is_empty());
    }

    #[test]
    fn a_muted_one_is_silent_for_half_an_hour() {
        let hurt = |board: &mut Board| board.ladders[0].users.failed = 40;
        let mut model = model(hurt);
        assert!(model.alerts.worst(NIGHT.0).is_some());
        assert!(model.alerts.mute(NIGHT.0).is_some());
        assert!(model.alerts.worst(NIGHT.0).is_none());
        fresh(&mut model);
        tell(&mut model, 1_000, |_| {});
        tell(&mut model, MUTED - 1, hurt);
        assert!(fresh(&mut model).is_empty(), "muted");
        tell(&mut model, MUTED, |_| {});
        tell(&mut model, MUTED + 1, hurt);
        assert_eq!(fresh(&mut model), ["PROD/users/chat"]);
    }

    #[test]
    fn what_ends_soon_or_ended_on_a_sick_rung_is_raised() {
        let forced = |seconds: i64| {
            move |board: &mut Board| {
                sample::open(&mut board.rungs[0], 4);
                sample::force(&mut board.rungs[0], OverrideMode::Demoted);
                let until = sample::before(-seconds);
                board.rungs[0].forced.as_mut().unwrap().until_at = Some(until);
            }
        };
        let mut model = model(forced(121));
        assert!(fresh(&mut model).is_empty());
        tell(&mut model, 1_000, forced(121));
        assert_eq!(fresh(&mut model), ["PROD/ending/sol"]);
        // A rung that was forced open is probed first.
        tell(&mut model, 121_000, |board| {
            board.rungs[0].health.state = BreakerState::HalfOpen.into()
        });
        assert!(fresh(&mut model).is_empty());
        tell(&mut model, 125_000, |board| sample::open(&mut board.rungs[0], 0));
        assert_eq!(fresh(&mut model), ["PROD/ended/sol"]);
        tell(&mut model, 126_000, |_| {});
        assert!(model.alerts.standing.is_empty(), "it is well");
    }

    #[test]
    fn a_dear_ladder_is_raised_after_five_minutes_and_a_lost_relay_after_fifteen_seconds() {
        let dear = |board: &mut Board| board.ladders[0].users.cost_nps = 9_900_000;
        let mut model = model(dear);
        tell(&mut model, DEAR - 1, dear);
        assert!(fresh(&mut model).is_empty());
        tell(&mut model, DEAR, dear);
        assert_eq!(fresh(&mut model), ["PROD/spend/chat"]);
        let now = NIGHT.0 + DEAR + LOST;
        model.merge(now - 1);
        model.alert(now - 1);
        assert!(fresh(&mut model).is_empty());
        model.merge(now);
        model.alert(now);
        assert_eq!(fresh(&mut model), ["lost/http://r"]);
    }

    #[test]
    fn no_rung_a_refused_key_and_a_failing_journal_are_raised() {
        let bad = |board: &mut Board| {
            board.rungs.iter_mut().for_each(|rung| sample::open(rung, 4));
            board.rungs[0].health.hard_down = Some(shared::admin::board::HardDown {
                why: "key".to_owned(),
                until_at: sample::before(-60),
            });
            board.relay.journal.ok = false;
        };
        let mut model = model(bad);
        let found = fresh(&mut model);
        for key in ["PROD/no rung/chat", "PROD/refused/sol"] {
            assert!(found.iter().any(|known| known.starts_with(key)), "{key}: {found:?}");
        }
        assert_eq!(found.len(), 2, "one late commit wakes nobody: {found:?}");
        tell(&mut model, UNWRITTEN, bad);
        let found = fresh(&mut model);
        assert!(
            found.iter().all(|key| key.starts_with("PROD/journal/")) && !found.is_empty(),
            "{found:?}"
        );
    }

    #[test]
    fn other_envs_and_relays_that_were_never_heard_of_are_told_of_too() {
        let relays = ["http://r", "http://t", "http://x"].map(str::to_owned).to_vec();
        let mut model = Model::new(Settings { relays, ..Settings::default() });
        tell(&mut model, 0, |_| {});
        let mut test = sample::calm(&[("chat", &["sol"])]);
        test.relay.env = Some("TEST".to_owned());
        test.ladders[0].users.failed = 40;
        let data = serde_json::to_string(&test).unwrap();
        model.relays[1].apply(Some(shared::admin::FeedKind::Snapshot), &data, NIGHT.0);
        model.relays[2].lost_at = Some(NIGHT.0 - LOST);
        model.alert(NIGHT.0);
        assert_eq!(model.viewed(), [0]);
        assert_eq!(fresh(&mut model), ["TEST/users/chat", "lost/http://x"]);
    }
}
