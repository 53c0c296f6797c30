//! What the core knows of ladders, rungs and requests: needs and limits, no names.

use crate::breaker::BreakerSpec;
use crate::capability::Capabilities;
use crate::index::RungIndex;
use shared::Degrade;
use std::time::Duration;

/// The first clock if the config sets none.
pub const DEFAULT_TTFT: Duration = Duration::from_secs(15);

/// How long the relay waits, after a finish reason, for usage and terminator.
pub const LINGER: Duration = Duration::from_secs(2);

/// Retries on a ladder that is not interactive, if the config sets none.
pub(crate) const RETRIES_IF_NOBODY_WAITS: u32 = 2;

/// When a hedge starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HedgeDelay {
    /// From the rung's usual times to first token.
    Auto,
    /// After this, always.
    Fixed(Duration),
}

/// A ladder's hedging.
#[derive(Debug, Clone, PartialEq)]
pub struct HedgeSpec {
    /// Whether there is any. Default true; `delay = "none"` switches it off as well. Ladders that
    /// are not interactive never hedge.
    pub enabled: bool,
    /// When one starts. Default `auto`.
    pub delay: HedgeDelay,
    /// The shortest `auto` delay. Default 250 ms.
    pub min: Duration,
    /// The longest `auto` delay, before the prompt's size is added. Default 4 s.
    pub max: Duration,
    /// The delay until 30 first tokens have been seen. Default 2 s.
    pub initial: Duration,
    /// Hedges per request (`budget` in the config), 0 to 1: what a request adds to the budget.
    /// Default 0.10.
    pub share: f64,
    /// Hedges that may be saved up, 1 to 1000: what the budget holds, and starts with. Default 20.
    pub burst: f64,
}

impl Default for HedgeSpec {
    fn default() -> Self {
        Self {
            enabled: true,
            delay: HedgeDelay::Auto,
            min: Duration::from_millis(250),
            max: Duration::from_secs(4),
            initial: Duration::from_secs(2),
            share: 0.10,
            burst: 20.0,
        }
    }
}

/// What a ladder's retries, soft-clock failovers and later failovers are paid from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetrySpec {
    /// Such calls per request (`budget` in the config), 0 to 1: what a request adds to the
    /// budget. Default 0.20.
    pub share: f64,
    /// Such calls that may be saved up, 1 to 1000: what the budget holds, and starts with. Default
    /// 20, which is more than the bad attempts that open a breaker.
    pub burst: f64,
}

impl Default for RetrySpec {
    fn default() -> Self {
        Self { share: 0.20, burst: 20.0 }
    }
}

/// What to do with an answer that ended properly without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnEmpty {
    /// Call the next rung.
    #[default]
    Next,
    /// It is the answer.
    End,
}

/// What to do with a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRefusal {
    /// It is the answer.
    #[default]
    End,
    /// Call the next rung and hold the refusal back.
    Next,
}

/// A rung, as far as the walk cares. Config and core share it; [`default`](Self::default) is
/// the one place of its defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct RungSpec {
    /// What it is able to do (`supports` in the config). Default everything: unknown counts as
    /// able, or a short config would serve nothing.
    pub can: Capabilities,
    /// The same number for rungs of the same model; the config leaves it 0.
    pub model: u64,
    /// Tokens of prompt and answer together. Default unknown, which counts as large enough.
    pub context: Option<u64>,
    /// Tokens of one answer. Default unknown: any.
    pub max_output: Option<u64>,
    /// Its own first clock, dial to first token, which then counts as explicit. Default the
    /// ladder's.
    pub ttft: Option<Duration>,
    /// Its own second clock, token to token. Default the ladder's.
    pub inter_token: Option<Duration>,
    /// Whether pings reset the clocks, for models that think in silence. Default false.
    pub pings_count: bool,
    /// Whether its calls cost nothing.
    pub free: bool,
    /// What follows an answer without content. Default the next rung.
    pub on_empty: OnEmpty,
    /// What follows a refusal. Default the end.
    pub on_refusal: OnRefusal,
    /// The hold after a 429 without a usable Retry-After; doubles. Default 2 s.
    pub hold_base: Duration,
    /// The longest hold that a Retry-After is granted. Default 15 min.
    pub max_hold: Duration,
    /// What it shares with other rungs, vendor, region, gateway, by number; the config leaves
    /// it empty.
    pub domains: Vec<u32>,
    /// Which dialect it speaks, by number, below 8; the config leaves it 0.
    pub dialect: u8,
    /// What is asked of it in a weaker form instead of passing it over. Default nothing.
    pub degrade: Degrade,
    /// Its circuit breaker.
    pub breaker: BreakerSpec,
}

impl RungSpec {
    /// What it can do for `need`, also in a weaker form.
    #[must_use]
    pub const fn can_for(&self, need: &Need) -> Capabilities {
        let mut can = self.can;
        can.json_schema |= self.degrade.json_schema && !need.stream;
        can.parallel_tools |= self.degrade.parallel_tools && can.tools;
        can
    }

    /// What of `need`'s request is asked of it in a weaker form: what it lacks and `degrade`
    /// allows.
    #[must_use]
    pub fn degrade_for(&self, need: &Need) -> Degrade {
        let (may, can, asked) = (self.degrade, self.can, need.capabilities);
        Degrade {
            json_schema: may.json_schema && !can.json_schema && asked.json_schema,
            parallel_tools: may.parallel_tools && !can.parallel_tools && asked.tools,
            max_output: may.max_output && !self.is_long_enough(need),
        }
    }

    /// Whether all of `need`'s request can be written in its dialect.
    #[must_use]
    pub const fn can_express(&self, need: &Need) -> bool {
        need.unsupported & (1 << (self.dialect & 7)) == 0
    }

    /// Whether its answers are as long as `need` asks for, or may be shorter.
    #[must_use]
    pub fn gives_enough(&self, need: &Need) -> bool {
        self.degrade.max_output || self.is_long_enough(need)
    }

    fn is_long_enough(&self, need: &Need) -> bool {
        need.max_output.zip(self.max_output).is_none_or(|(asked, most)| asked <= most)
    }
}

impl Default for RungSpec {
    fn default() -> Self {
        Self {
            can: Capabilities::ALL,
            model: 0,
            context: None,
            max_output: None,
            ttft: None,
            inter_token: None,
            pings_count: false,
            free: false,
            on_empty: OnEmpty::Next,
            on_refusal: OnRefusal::End,
            hold_base: Duration::from_secs(2),
            max_hold: Duration::from_secs(15 * 60),
            domains: Vec::new(),
            dialect: 0,
            degrade: Degrade::default(),
            breaker: BreakerSpec::default(),
        }
    }
}

/// A ladder's order and policy. Config and core share it; [`default`](Self::default) is the one
/// place of its defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderSpec {
    /// The rungs in their order, none twice: places in the config, then on the board.
    pub rungs: Vec<RungIndex>,
    /// Whether a person waits for the answer. Default true.
    pub interactive: bool,
    /// What every request on this ladder needs beside its own needs. Default nothing.
    pub require: Capabilities,
    /// The first clock, dial to first token, per attempt. `None`: the default of 15 s, which does
    /// not cut the only attempt in flight if no other rung is usable. A configured 15 s always
    /// applies.
    pub ttft: Option<Duration>,
    /// The second clock, token to token, per attempt. Default 15 s.
    pub inter_token: Duration,
    /// The third clock, accept to commit, per request; for whole answers, accept to end.
    /// Default 90 s.
    pub total: Duration,
    /// The third clock of a committed stream, accept to end. Default 15 min, never below `total`.
    pub stream_total: Duration,
    /// Retries on the same rung, 0 to 10. Default `None`: as the situation requires.
    pub retries: Option<u32>,
    /// No retry and no waiting at all. Default false.
    pub fail_fast: bool,
    /// The most attempts of one walk, 1 to 100. Default `None`: rungs + retries + 1.
    pub max_attempts: Option<u32>,
    /// The longest wait for a hold; zero: never wait. Default `None`: 2 s, or `total` where no
    /// person waits.
    pub patience: Option<Duration>,
    /// `side_effects = "none"`: requests with provider-executed tools and such may be sent again
    /// like any other. Default false (`"declared"`).
    pub side_effects_none: bool,
    /// When the status goes out although no token has come: the server's setting. Default 20 s.
    pub early_headers: Duration,
    /// Its hedging.
    pub hedge: HedgeSpec,
    /// What its retries and later failovers are paid from.
    pub retry: RetrySpec,
    /// The most attempts in flight at the same time, 1 to 10. Default 2.
    pub max_in_flight: usize,
    /// The most hedges of one request, 0 to 10, not counting the replacement of a failed one.
    /// Default 1.
    pub max_hedges: u32,
    /// How many rungs are called at once from the start, 0 to 10; 0 or 1: no race. Default 0.
    pub race: usize,
    /// Whether requests are moved past a degraded rung before it opens. Default false.
    pub shed: bool,
    /// This share of requests goes past rung one on purpose, 0 to 1. Default 0.
    pub drill: f64,
}

impl Default for LadderSpec {
    fn default() -> Self {
        Self {
            rungs: Vec::new(),
            interactive: true,
            require: Capabilities::default(),
            ttft: None,
            inter_token: Duration::from_secs(15),
            total: Duration::from_secs(90),
            stream_total: Duration::from_mins(15),
            retries: None,
            fail_fast: false,
            max_attempts: None,
            patience: None,
            side_effects_none: false,
            early_headers: Duration::from_secs(20),
            hedge: HedgeSpec::default(),
            retry: RetrySpec::default(),
            max_in_flight: 2,
            max_hedges: 1,
            race: 0,
            shed: false,
            drill: 0.0,
        }
    }
}

impl LadderSpec {
    /// The most attempts a walk on this ladder makes, whatever happens. The default leaves
    /// room for each rung, for one rung's retries, and for one attempt more.
    #[must_use]
    pub fn max_attempts(&self) -> usize {
        let whole = |count| usize::try_from(count).unwrap_or(usize::MAX);
        let retries = || match self.retries {
            Some(retries) => retries,
            None if self.interactive => 0,
            None => RETRIES_IF_NOBODY_WAITS,
        };
        self.max_attempts.map_or_else(
            || {
                let rungs = self.rungs.len().saturating_add(1);
                rungs.saturating_add(whole(retries())).max(self.race)
            },
            whole,
        )
    }

    /// The longest wait for a hold to end.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.patience.unwrap_or(if self.interactive { Duration::from_secs(2) } else { self.total })
    }
}

/// What a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Need {
    /// Whether the client wants a stream.
    pub stream: bool,
    /// What the rung must be able to do.
    pub capabilities: Capabilities,
    /// The estimated prompt size in tokens.
    pub prompt_tokens: u64,
    /// What else its time to first token depends on.
    pub kind: Kind,
    /// The longest answer asked for, in tokens.
    pub max_output: Option<u64>,
    /// Whether a second call could do something twice.
    pub side_effects: bool,
    /// The dialects that cannot express some part of it: one bit for each dialect's number.
    pub unsupported: u8,
    /// The number of its own dialect.
    pub dialect: u8,
    /// Whether its calls are sent later than they are dialled: [`Input::Sent`] reports it.
    ///
    /// [`Input::Sent`]: crate::Input::Sent
    pub sent_later: bool,
    /// The number of the client whose request it is; 0 without configured clients.
    pub client: u64,
}

impl Need {
    /// What its time to first token depends on.
    #[must_use]
    pub const fn size(&self) -> Size {
        Size { prompt_tokens: self.prompt_tokens, kind: self.kind }
    }
}

/// What a request's time to first token depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// The estimated prompt size in tokens.
    pub prompt_tokens: u64,
    /// Everything else.
    pub kind: Kind,
}

/// Requests that take a rung about the same time, apart from the prompt's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kind {
    /// How much the request lets the model think.
    pub effort: Effort,
    /// Whether there are pictures, sound or files to be read first.
    pub attachments: bool,
}

impl Kind {
    /// Whether the request lets the model think before it answers.
    #[must_use]
    pub const fn thinks(self) -> bool {
        matches!(self.effort, Effort::Low | Effort::Medium | Effort::High)
    }
}

/// How much a request lets the model think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// The request does not say.
    #[default]
    Usual,
    /// Not at all, or nearly so.
    Little,
    /// A little.
    Low,
    /// More, or as much as the model likes.
    Medium,
    /// As much as it takes.
    High,
}
