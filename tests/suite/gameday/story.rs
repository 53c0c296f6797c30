//! What the journal tells of a game day.

use tests::Relay;
use tests::clock::eventually;

#[derive(Debug)]
struct Row {
    request: i64,
    n: i64,
    at: i64,
    rung: String,
    kind: String,
    probe: bool,
    outcome: String,
    cause: Option<String>,
    verdict: Option<String>,
}

/// Every request's outcome and every attempt.
#[derive(Debug)]
pub(super) struct Story {
    outcomes: Vec<String>,
    attempts: Vec<Row>,
}

impl Story {
    /// Reads it once the journal has all these requests.
    pub(super) async fn read(relay: &Relay, requests: usize) -> Self {
        let file = relay.open_journal();
        let outcomes = eventually("every request to be journaled", async || {
            let query = "SELECT outcome FROM requests WHERE outcome IS NOT NULL";
            let mut query = file.prepare(query).unwrap();
            let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
            let rows: Vec<_> = rows.map(Result::unwrap).collect();
            (rows.len() >= requests).then_some(rows)
        })
        .await;
        assert_eq!(outcomes.len(), requests, "one row for each request");
        let query = "SELECT request, n, at, rung, kind, probe, outcome, cause, verdict
                     FROM attempts ORDER BY at, request, n";
        let mut query = file.prepare(query).unwrap();
        let rows = query.query_map([], |row| {
            Ok(Row {
                request: row.get(0)?,
                n: row.get(1)?,
                at: row.get(2)?,
                rung: row.get(3)?,
                kind: row.get(4)?,
                probe: row.get(5)?,
                outcome: row.get(6)?,
                cause: row.get(7)?,
                verdict: row.get(8)?,
            })
        });
        let attempts = rows.unwrap().map(Result::unwrap).collect();
        Self { outcomes, attempts }
    }

    /// Every request ended well, by exactly one attempt; nobody's client left.
    pub(super) fn assert_all_answered(&self) {
        assert!(self.outcomes.iter().all(|outcome| outcome == "ok"), "{:?}", self.outcomes);
        let good = self.attempts.iter().filter(|one| one.outcome == "ok").count();
        assert_eq!(good, self.outcomes.len(), "one good attempt a request");
        for one in &self.attempts {
            let fine = match (one.outcome.as_str(), one.cause.as_deref()) {
                ("ok" | "ttft_timeout", None) => true,
                ("cancelled", cause) => cause == Some("lost_race"),
                _ => false,
            };
            assert!(fine, "{one:?}");
        }
    }

    /// Hedges and failovers are within the budgets, those of probes apart.
    pub(super) fn assert_budgets_kept(&self) {
        let requests = self.outcomes.len();
        let paid = self.paid_hedges();
        assert!(paid <= 20 + requests / 10, "{paid} hedges of {requests} requests");
        let failovers = self.of_kind("failover");
        assert!(failovers <= 20 + requests / 5, "{failovers} failovers of {requests} requests");
    }

    /// In the dark the rung's attempts are slow and lose their races or run into the soft
    /// clock, until its breaker opens; from then on, and until it closes, it gets probes only.
    pub(super) fn assert_attempts_tell_it(&self, rung: &str, black: i64, healed: i64) {
        let mine = || self.attempts.iter().filter(|one| one.rung == rung);
        assert!(mine().filter(|one| one.at < black).all(|one| one.kind == "first"));
        // A call that was dialled just before may be answered still.
        let dark: Vec<_> = mine().filter(|one| (black + 100..healed).contains(&one.at)).collect();
        let slow = dark.iter().filter(|one| one.verdict.as_deref() == Some("slow")).count();
        assert!(slow >= 5, "the breaker opens on five bad ones: {dark:?}");
        let probes = mine().filter(|one| one.probe);
        let good = probes.clone().filter(|one| one.outcome == "ok").count();
        assert!(good >= 1 && probes.count() >= 3, "a bad probe, and two good ones");
        let last = mine().next_back().expect("it was called");
        assert_eq!((last.outcome.as_str(), last.probe), ("ok", false));
    }

    /// How many attempts of what kind there were.
    pub(super) fn in_figures(&self) -> String {
        let probes = self.attempts.iter().filter(|one| one.probe).count();
        format!(
            "{} attempts: {} hedges ({} of them paid for), {} failovers, {probes} probes",
            self.attempts.len(),
            self.of_kind("hedge"),
            self.paid_hedges(),
            self.of_kind("failover"),
        )
    }

    fn of_kind(&self, kind: &str) -> usize {
        self.attempts.iter().filter(|one| one.kind == kind).count()
    }

    /// Hedges of requests whose first attempt was no probe.
    fn paid_hedges(&self) -> usize {
        let probed = |request| {
            self.attempts.iter().any(|one| one.request == request && one.probe && one.n == 1)
        };
        let hedges = self.attempts.iter().filter(|one| one.kind == "hedge");
        hedges.filter(|one| !probed(one.request)).count()
    }
}
