//! What happens to the relay while clients ask: moods of providers, operators, reloads,
//! signals, and faults outside.

use super::crowd::LONGEST;
use super::ledger::Ledger;
use super::world::{Mood, RUNGS, World};
use fastrand::Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tests::clock::{allow, ms, now};
use tests::{Faults, Relay};

/// Faults outside; what hangs is what this is for.
const OUTSIDE: [&str; 9] = [
    "log-hang",
    "log-broken",
    "disk-hang",
    "disk-broken",
    "disk-full",
    "dns-hang",
    "dns-broken",
    "no-files",
    "clock=3456000",
];

/// Two seconds are the journal's, one the workers'; the rest is for a busy machine.
const STOP: Duration = Duration::from_secs(6);

pub struct Storm {
    rng: Rng,
    relay: Arc<Relay>,
    world: Arc<World>,
    faults: Faults,
    /// Counts what operators did: each has an id of its own.
    deeds: u64,
    /// When the faults outside end.
    outside_until: Option<Instant>,
    /// A relay without descriptors takes no operator's call, and this waits for none to end.
    without_files: bool,
}

impl Storm {
    pub fn new(seed: u64, relay: Arc<Relay>, world: Arc<World>, faults: Faults) -> Self {
        let rng = Rng::with_seed(seed);
        Self { rng, relay, world, faults, deeds: 0, outside_until: None, without_files: false }
    }

    pub fn into_faults(self) -> Faults {
        self.faults
    }

    /// Until `until`.
    pub async fn rage(&mut self, until: Instant, ledger: &Ledger) {
        while now() < until {
            if self.outside_until.is_some_and(|end| now() >= end) {
                self.faults.clear().await;
                (self.outside_until, self.without_files) = (None, false);
            }
            self.strike(ledger).await;
            tokio::time::sleep(ms(self.rng.u64(20..400))).await;
        }
    }

    async fn strike(&mut self, ledger: &Ledger) {
        match self.rng.u8(..10) {
            0..=3 => {
                let mood = [Mood::Well, Mood::Well, Mood::Sick, Mood::Dead][self.rng.usize(..4)];
                let provider = self.rng.usize(..RUNGS.len());
                self.world.set(provider, mood);
                ledger.count("moods");
            }
            4..=5 if self.outside_until.is_none() => {
                let words: Vec<_> = (0..self.rng.usize(1..=2))
                    .map(|_| OUTSIDE[self.rng.usize(..OUTSIDE.len())])
                    .collect();
                self.faults.set(&words).await;
                self.without_files = words.contains(&"no-files");
                self.outside_until = Some(now() + ms(self.rng.u64(100..2500)));
                ledger.count("faults outside");
            }
            6 => self.reload(ledger),
            7 => {
                let signal = ["USR1", "USR2", "HUP", "PIPE", "XFSZ"][self.rng.usize(..5)];
                self.relay.signal(signal);
                ledger.count("signals");
            }
            _ if self.without_files => {}
            _ => self.operate(ledger).await,
        }
    }

    /// Another ladder, the same one, or half a config.
    fn reload(&mut self, ledger: &Ledger) {
        let journal = self.relay.journal_file();
        let toml = self.world.setup(self.rng.bool()).toml(journal.to_str().unwrap_or_default());
        let toml = if self.rng.u8(..4) == 0 { toml[..toml.len() / 2].to_owned() } else { toml };
        if let Err(error) = std::fs::write(self.relay.config(), toml) {
            ledger.wrong(format!("the config cannot be written: {error}"));
        }
        self.relay.signal("HUP");
        ledger.count("reloads");
    }

    async fn operate(&mut self, ledger: &Ledger) {
        self.deeds += 1;
        let (id, reason) = (format!("deed-{}", self.deeds), "chaos");
        let rung = RUNGS[self.rng.usize(..RUNGS.len())];
        let mode = ["auto", "forced_open", "forced_closed", "demoted"][self.rng.usize(..4)];
        let (path, body) = match self.rng.u8(..4) {
            0 => (format!("/admin/v1/rungs/{rung}/probe"), json!({"id": id, "reason": reason})),
            1 => ("/admin/v1/notes".to_owned(), json!({"id": id, "text": reason, "about": {}})),
            2 => {
                let mut order = RUNGS;
                self.rng.shuffle(&mut order);
                let changes = json!([{"ladder": "chat", "order": order}]);
                let expect = json!({"ladder/chat": self.version().await});
                let body = json!({"id": id, "reason": reason, "ttl": "60s", "changes": changes, "expect": expect});
                ("/admin/v1/changes".to_owned(), body)
            }
            _ => {
                let changes = json!([{"rung": rung, "mode": mode}]);
                let body = json!({"id": id, "reason": reason, "ttl": "60s", "changes": changes,
                    "accept": ["chat"]});
                ("/admin/v1/changes".to_owned(), body)
            }
        };
        self.call(&path, &body, ledger).await;
    }

    async fn version(&self) -> Value {
        let asked = self.relay.admin_get("/admin/v1/ladders/chat/order");
        match tokio::time::timeout(ms(5000), asked).await {
            Ok(answer) if answer.status == 200 => answer.json()["version"].clone(),
            _ => json!(0),
        }
    }

    /// A change is made or refused, and that soon, whatever the disk does.
    async fn call(&self, path: &str, body: &Value, ledger: &Ledger) {
        let body = body.to_string();
        let called = self.relay.admin_call("POST", path, &[], Some(body.as_bytes()));
        match tokio::time::timeout(allow(Duration::from_secs(10)), called).await {
            Ok(answer) if answer.status < 500 => ledger.count(match answer.status {
                200 => "changes",
                _ => "changes refused",
            }),
            Ok(answer) => ledger.wrong(format!("{path}: {}", answer.body_text())),
            Err(_) => ledger.wrong(format!("{path}: no answer")),
        }
    }

    /// Everything is well again, and nothing is forced.
    pub async fn calm(&mut self, ledger: &Ledger) {
        self.faults.clear().await;
        self.world.heal();
        let journal = self.relay.journal_file();
        let toml = self.world.setup(true).toml(journal.to_str().unwrap_or_default());
        if let Err(error) = std::fs::write(self.relay.config(), toml) {
            ledger.wrong(format!("the config cannot be written: {error}"));
        }
        self.relay.signal("HUP");
        for rung in RUNGS {
            self.deeds += 1;
            let id = format!("deed-{}", self.deeds);
            let changes = json!([{"rung": rung, "mode": "auto"}]);
            let body = json!({"id": id, "reason": "the end", "changes": changes});
            self.call("/admin/v1/changes", &body, ledger).await;
        }
        let since = now();
        loop {
            let answer = self.relay.ask().await;
            if answer.status == 200 {
                break;
            }
            if since.elapsed() > allow(LONGEST * 2) {
                ledger.wrong(format!("not well again: {}", answer.body_text()));
                break;
            }
            tokio::time::sleep(ms(200)).await;
        }
    }
}

/// Tells the relay to stop beside two faults outside.
pub async fn stop((relay, faults, seed): (&mut Relay, &Faults, u64), ledger: &Ledger) {
    let mut rng = Rng::with_seed(seed);
    let words = [OUTSIDE[rng.usize(..OUTSIDE.len())], OUTSIDE[rng.usize(..OUTSIDE.len())]];
    faults.set(&words).await;
    let told = now();
    relay.terminate();
    let status = relay.exited().await;
    if !status.success() {
        ledger.wrong(format!("stopped beside {words:?} with {status}"));
    }
    if told.elapsed() > allow(STOP) {
        ledger.wrong(format!("took {:?} to stop beside {words:?}", told.elapsed()));
    }
    let log = relay.log();
    if let Some(line) = log.lines().find(|line| line.contains("panicked")) {
        ledger.wrong(line.to_owned());
    }
}
