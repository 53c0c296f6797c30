//! All that requests share: ladders, rungs and providers by name, the board,
//! the journal, and the word that the relay is to stop.

use super::memory::Memory;
use crate::config::{self, Config};
use crate::dialect::matchers::{Field, Matcher};
use crate::journal::Journal;
use crate::journal::{OverrideEnd, TransitionRecord};
use crate::metrics::Metrics;
use crate::policy::{
    Board, BreakerSpec, Capabilities, HedgeDelay, HedgeSpec, LadderIndex, LadderSpec, OnEmpty,
    OnRefusal, RetrySpec, RungIndex, RungSpec, Time, Transition, Why,
};
use crate::provider::{CannotBuild, Provider};
use shared::{Price, RequestId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How far the relay is on its way to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drain {
    /// It serves.
    Serving,
    /// No new requests; running ones go on.
    Draining,
    /// Running ones end now.
    Cut,
}

/// A ladder by its name.
#[derive(Debug)]
pub struct Ladder {
    /// What clients send as `model`.
    pub name: Arc<str>,
    /// Its place on the board.
    pub index: LadderIndex,
    /// Its order and policy.
    pub spec: Arc<LadderSpec>,
}

/// A rung by its name.
#[derive(Debug)]
pub struct Rung {
    /// Its name.
    pub name: Arc<str>,
    /// The model's name at the provider.
    pub model: String,
    /// Whom to call.
    pub provider: Arc<Provider>,
    /// The operator's own matchers for its provider's errors.
    pub matchers: Arc<[Matcher]>,
    /// Its price, if known.
    pub price: Option<Price>,
    /// Whether it is asked for usage.
    pub ask_usage: bool,
    /// Whether signs of life without content matter here.
    pub pings_count: bool,
}

/// All that requests share.
#[derive(Debug)]
pub struct Relay {
    /// The data plane's settings.
    pub server: config::Server,
    /// Who may call.
    pub clients: Vec<config::Client>,
    /// The ladders, in the config's order.
    pub ladders: Vec<Arc<Ladder>>,
    /// The rungs, in the config's order.
    pub rungs: Vec<Arc<Rung>>,
    /// Every attempt's record.
    pub journal: Journal,
    /// What it did, in numbers.
    pub metrics: Metrics,
    /// When the relay started, for the model list.
    pub started: shared::UnixMillis,
    /// The same for measuring: how long ago that was.
    pub(super) began: Time,
    names: Vec<(String, usize)>,
    board: Mutex<Board>,
    memory: Memory,
    drain: watch::Sender<Drain>,
    running: AtomicUsize,
}

/// A request among the running ones.
#[derive(Debug)]
pub struct Running(Arc<Relay>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the connection's IO tells about a client that is gone.
#[derive(Debug, Default)]
pub struct Peer {
    stalled: AtomicBool,
}

impl Peer {
    /// The client stopped reading and was dropped for it.
    pub fn set_stalled(&self) {
        self.stalled.store(true, Ordering::Relaxed);
    }

    /// Whether the client was dropped because it had stopped reading.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }
}

impl Relay {
    /// Makes the config's names and numbers ready for use.
    ///
    /// # Errors
    /// A provider whose settings no client can be built from.
    pub fn new(config: Config, journal: Journal) -> Result<Self, CannotBuild> {
        let memory = Memory::of(&config);
        let providers = config
            .providers
            .iter()
            .map(|provider| Ok((Arc::new(Provider::new(provider)?), matchers(provider))))
            .collect::<Result<Vec<_>, CannotBuild>>()?;
        let rungs: Vec<_> = config
            .rungs
            .iter()
            .filter_map(|rung| {
                let (provider, matchers) = providers.get(rung.provider)?;
                Some(Arc::new(Rung {
                    name: rung.name.as_str().into(),
                    model: rung.model.clone(),
                    provider: Arc::clone(provider),
                    matchers: Arc::clone(matchers),
                    price: rung.price,
                    ask_usage: rung.stream_options,
                    pings_count: rung.pings_count,
                }))
            })
            .collect();
        let early = config.server.early_headers;
        let ladder = |(index, ladder): (usize, &config::Ladder)| {
            let name = ladder.name.as_str().into();
            let spec = Arc::new(ladder_spec(ladder, early));
            Arc::new(Ladder { name, index: LadderIndex(index), spec })
        };
        let ladders: Vec<_> = config.ladders.iter().enumerate().map(ladder).collect();
        let named = config.ladders.iter().enumerate().flat_map(|(index, ladder)| {
            std::iter::once(&ladder.name).chain(&ladder.aliases).map(move |n| (n.clone(), index))
        });
        let names = named.collect();
        let domains = domains(&config.rungs);
        let specs = config.rungs.iter().map(|rung| rung_spec(rung, &domains)).collect();
        let ladder_specs = ladders.iter().map(|ladder| Arc::clone(&ladder.spec)).collect();
        let metrics = Metrics::new(&super::count::names(&config, &rungs, &ladders));
        Ok(Self {
            names,
            ladders,
            rungs,
            board: Mutex::new(Board::new(specs, ladder_specs, crate::wall::rng())),
            memory,
            journal,
            metrics,
            started: crate::wall::unix(),
            began: crate::wall::now(),
            server: config.server,
            clients: config.clients,
            drain: watch::Sender::new(Drain::Serving),
            running: AtomicUsize::new(0),
        })
    }

    /// Makes this thread's clients ready, so that its first request need not.
    pub fn warm_up(&self) {
        self.rungs.iter().for_each(|rung| rung.provider.warm_up());
    }

    /// The ladder that a client's `model` names.
    #[must_use]
    pub fn ladder(&self, model: &str) -> Option<usize> {
        self.names.iter().find(|(name, _)| name == model).map(|(_, index)| *index)
    }

    /// The shared board, for the length of one input; never across an await. What it
    /// says of breakers goes to the journal once the lock is given back.
    pub(super) fn with_board<T>(&self, now: Time, work: impl FnOnce(&mut Board) -> T) -> T {
        self.with_board_of(now, None, work)
    }

    /// The same for one input of a request, whose breakers' changes are its doing.
    pub(super) fn with_board_of<T>(
        &self,
        now: Time,
        request: Option<RequestId>,
        work: impl FnOnce(&mut Board) -> T,
    ) -> T {
        let (done, transitions) = {
            // A panic under the lock leaves the board's plain numbers usable.
            let mut board: MutexGuard<'_, Board> =
                self.board.lock().unwrap_or_else(PoisonError::into_inner);
            let done = work(&mut board);
            let changed = board.take_changed();
            if !changed.is_empty() {
                self.memory.changed(now, &board, &changed, &self.journal);
            }
            (done, board.take_transitions())
        };
        for transition in &transitions {
            self.journal_transition(now, request, transition);
        }
        done
    }

    fn journal_transition(&self, now: Time, request: Option<RequestId>, transition: &Transition) {
        let Some(rung) = self.rung(transition.rung) else { return };
        let (rule, weight) = (transition.why.as_str(), transition.weight);
        let text = transition.text();
        tracing::warn!(rung = %rung.name, from = transition.from, to = transition.to, rule, weight, "breaker: {text}");
        self.metrics.transition(&rung.name, transition.to, rule);
        let millis = |span: Option<std::time::Duration>| span.map(super::log::millis);
        let at = crate::wall::unix_of(now, transition.at);
        self.journal.transition(TransitionRecord {
            at,
            rung: Arc::clone(&rung.name),
            before: transition.from,
            after: transition.to,
            rule,
            text,
            calls: transition.evidence.calls,
            bad: transition.evidence.bad,
            slow: transition.evidence.slow,
            outcome: transition.tip.outcome,
            status: transition.tip.status,
            request: request.filter(|_| transition.is_a_requests()),
            weight,
            generation: transition.generation,
            cooldown_ms: millis(transition.cooldown()),
            mark_ms: millis(transition.mark),
            ref_p95_ms: millis(transition.reference),
            until: transition.until.map(|until| crate::wall::unix_of(now, until)),
        });
        if transition.why == Why::Expired {
            self.journal.end_override(OverrideEnd { rung: Arc::clone(&rung.name), at, why: rule });
        }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn rung(&self, index: RungIndex) -> Option<&Arc<Rung>> {
        self.rungs.get(index.0)
    }

    /// How far the relay is on its way to stop.
    #[must_use]
    pub fn drain(&self) -> Drain {
        *self.drain.borrow()
    }

    /// Goes one step further on the way to stop; never back.
    pub fn set_drain(&self, drain: Drain) {
        self.drain.send_if_modified(|now| {
            let further = drain > *now;
            *now = drain.max(*now);
            further
        });
    }

    /// Waits until the relay is at `drain` or further.
    pub async fn until(&self, drain: Drain) {
        let mut signal = self.drain.subscribe();
        // The sender lives as long as this relay, so this cannot fail.
        let _never_closed = signal.wait_for(|now| *now >= drain).await;
    }

    /// Requests running now, those whose body is still coming included.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Counts one more request, until what is returned is dropped.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(self))
    }
}

fn matchers(provider: &config::Provider) -> Arc<[Matcher]> {
    let matchers = provider.matchers.iter().map(|matcher| Matcher {
        status: matcher.status,
        field: match matcher.field {
            config::MatchField::Code => Field::Code,
            config::MatchField::Type => Field::Type,
            config::MatchField::Message => Field::Message,
        },
        contains: matcher.contains.clone(),
        signature: matcher.signature,
    });
    matchers.collect()
}

/// Every domain that is named, by number.
fn domains(rungs: &[config::Rung]) -> HashMap<String, u32> {
    let mut numbers = HashMap::new();
    for name in rungs.iter().flat_map(|rung| &rung.domains) {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        numbers.entry(name.clone()).or_insert(next);
    }
    numbers
}

fn breaker_spec(breaker: &config::Breaker) -> BreakerSpec {
    BreakerSpec {
        enabled: true,
        open_consecutive: breaker.open_consecutive,
        open_rate: breaker.open_rate,
        min_samples: breaker.min_samples,
        window: breaker.window,
        open_ttft_p95: breaker.open_ttft_p95,
        cooldown: breaker.cooldown,
        max_cooldown: breaker.max_cooldown,
        jitter: breaker.jitter,
        close_successes: breaker.close_successes,
    }
}

fn hedge_spec(hedge: &config::Hedge) -> HedgeSpec {
    HedgeSpec {
        enabled: hedge.enabled,
        delay: match hedge.delay {
            config::HedgeDelay::Auto => HedgeDelay::Auto,
            config::HedgeDelay::Fixed(delay) => HedgeDelay::Fixed(delay),
        },
        min: hedge.min,
        max: hedge.max,
        initial: hedge.initial,
        share: hedge.budget,
        burst: hedge.burst,
    }
}

fn rung_spec(rung: &config::Rung, domains: &HashMap<String, u32>) -> RungSpec {
    let free = rung.price.is_some_and(|price| price.input == 0 && price.output == 0);
    RungSpec {
        can: Capabilities {
            tools: rung.supports.tools,
            parallel_tools: rung.supports.parallel_tools,
            json_schema: rung.supports.json_schema,
            images: rung.supports.images,
            audio: rung.supports.audio,
            files: rung.supports.files,
        },
        context: rung.context,
        max_output: rung.max_output,
        ttft: rung.ttft,
        inter_token: rung.inter_token,
        pings_count: rung.pings_count,
        on_empty: match rung.on_empty {
            config::OnEmpty::Next => OnEmpty::Next,
            config::OnEmpty::End => OnEmpty::End,
            config::OnEmpty::ByPrice if free => OnEmpty::Next,
            config::OnEmpty::ByPrice => OnEmpty::End,
        },
        on_refusal: match rung.on_refusal {
            config::OnRefusal::End => OnRefusal::End,
            config::OnRefusal::Next => OnRefusal::Next,
        },
        hold_base: rung.hold_base,
        max_hold: rung.max_hold,
        domains: rung.domains.iter().filter_map(|name| domains.get(name).copied()).collect(),
        breaker: breaker_spec(&rung.breaker),
    }
}

fn ladder_spec(ladder: &config::Ladder, early_headers: std::time::Duration) -> LadderSpec {
    let mut require = Capabilities::default();
    for capability in &ladder.require {
        match capability {
            config::Capability::Tools => require.tools = true,
            config::Capability::ParallelTools => require.parallel_tools = true,
            config::Capability::JsonSchema => require.json_schema = true,
            config::Capability::Images => require.images = true,
            config::Capability::Audio => require.audio = true,
            config::Capability::Files => require.files = true,
        }
    }
    LadderSpec {
        rungs: ladder.rungs.iter().copied().map(RungIndex).collect(),
        interactive: ladder.interactive,
        require,
        ttft: ladder.clocks.ttft,
        inter_token: ladder.clocks.inter_token,
        total: ladder.clocks.total,
        retries: ladder.retries,
        fail_fast: ladder.fail_fast,
        max_attempts: ladder.max_attempts,
        patience: ladder.patience,
        side_effects_none: ladder.side_effects_none,
        early_headers,
        hedge: hedge_spec(&ladder.hedge),
        retry: RetrySpec { share: ladder.retry_budget.budget, burst: ladder.retry_budget.burst },
        max_in_flight: ladder.max_in_flight,
        max_hedges: ladder.max_hedges,
        race: ladder.race,
        shed: ladder.shed,
        drill: ladder.drill,
    }
}
