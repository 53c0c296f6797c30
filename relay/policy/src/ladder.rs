//! What the core knows of ladders, rungs and requests: needs and limits, no names.

use crate::breaker::BreakerSpec;
use std::time::Duration;

/// The first clock where nobody set one.
pub const DEFAULT_TTFT: Duration = Duration::from_secs(15);

/// How long the relay waits, after a finish reason, for usage and terminator.
pub const LINGER: Duration = Duration::from_secs(2);

/// Retries on a ladder that nobody waits on, where the config sets none.
pub(crate) const RETRIES_IF_NOBODY_WAITS: u32 = 2;

/// A ladder's place in the config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LadderIndex(pub usize);

/// When a hedge starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HedgeDelay {
    /// From what the rung's first tokens usually take.
    Auto,
    /// After this, always.
    Fixed(Duration),
}

/// A ladder's hedging.
#[derive(Debug, Clone, PartialEq)]
pub struct HedgeSpec {
    /// Whether there is any. Ladders that nobody waits on never hedge.
    pub enabled: bool,
    /// When one starts.
    pub delay: HedgeDelay,
    /// The shortest `auto` delay.
    pub min: Duration,
    /// The longest `auto` delay, before the prompt's size is added.
    pub max: Duration,
    /// The delay until enough first tokens have been seen.
    pub initial: Duration,
    /// What a request adds to the budget.
    pub share: f64,
    /// What the budget holds.
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
    /// What a request adds to the budget.
    pub share: f64,
    /// What the budget holds, and starts with: more than the evidence that a breaker needs.
    pub burst: f64,
}

impl Default for RetrySpec {
    fn default() -> Self {
        Self { share: 0.20, burst: 20.0 }
    }
}

/// A rung's place in the config; the same on every ladder it stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RungIndex(pub usize);

/// What a rung can do, or what a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Tool calls.
    pub tools: bool,
    /// Several tool calls in one answer.
    pub parallel_tools: bool,
    /// Answers held to a JSON schema.
    pub json_schema: bool,
    /// Images in the prompt.
    pub images: bool,
    /// Audio in the prompt or the answer.
    pub audio: bool,
    /// Files in the prompt.
    pub files: bool,
}

impl Capabilities {
    /// Everything.
    pub const ALL: Self = Self {
        tools: true,
        parallel_tools: true,
        json_schema: true,
        images: true,
        audio: true,
        files: true,
    };

    /// Each capability with its word in the config.
    #[must_use]
    pub const fn named(self) -> [(&'static str, bool); 6] {
        [
            ("tools", self.tools),
            ("parallel_tools", self.parallel_tools),
            ("json_schema", self.json_schema),
            ("images", self.images),
            ("audio", self.audio),
            ("files", self.files),
        ]
    }

    /// The first capability of `need` that is missing here.
    #[must_use]
    pub fn lacks(self, need: Self) -> Option<&'static str> {
        self.named()
            .into_iter()
            .zip(need.named())
            .find_map(|((word, has), (_, needs))| (needs && !has).then_some(word))
    }

    /// What either has.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            tools: self.tools | other.tools,
            parallel_tools: self.parallel_tools | other.parallel_tools,
            json_schema: self.json_schema | other.json_schema,
            images: self.images | other.images,
            audio: self.audio | other.audio,
            files: self.files | other.files,
        }
    }
}

/// What to do with an answer that ended properly without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnEmpty {
    /// Ask the next rung.
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
    /// Ask the next rung, holding the refusal back.
    Next,
}

/// A rung, as far as the walk cares.
#[derive(Debug, Clone)]
pub struct RungSpec {
    /// What it can do.
    pub can: Capabilities,
    /// The same number for rungs of the same model.
    pub model: u64,
    /// Its context in tokens; `None`: large enough for anything.
    pub context: Option<u64>,
    /// The longest answer it gives, in tokens; `None`: any.
    pub max_output: Option<u64>,
    /// Its own first clock, which then counts as explicit.
    pub ttft: Option<Duration>,
    /// Its own second clock.
    pub inter_token: Option<Duration>,
    /// Whether signs of life without content feed the second clock.
    pub pings_count: bool,
    /// Whether its calls cost nothing.
    pub free: bool,
    /// What an empty answer means here.
    pub on_empty: OnEmpty,
    /// What a refusal means here.
    pub on_refusal: OnRefusal,
    /// The hold after a 429 that names no time; doubles.
    pub hold_base: Duration,
    /// The longest hold that a provider is believed.
    pub max_hold: Duration,
    /// What it shares with other rungs: vendor, region, gateway, by number.
    pub domains: Vec<u32>,
    /// Which dialect it speaks, by number, below 8.
    pub dialect: u8,
    /// What it may be asked less of instead of being passed over.
    pub degrade: Degrade,
    /// Its circuit breaker.
    pub breaker: BreakerSpec,
}

/// Needs that a rung lacks, and that are made less of for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Degrade {
    /// Its answer is checked against the schema instead. Not for streams: what has left
    /// cannot be checked.
    pub json_schema: bool,
    /// It calls one tool at a time.
    pub parallel_tools: bool,
    /// Its answer may be shorter than was asked for.
    pub max_output: bool,
}

impl RungSpec {
    /// What it can do for `need`, what is made less of included.
    #[must_use]
    pub const fn can_for(&self, need: &Need) -> Capabilities {
        let mut can = self.can;
        can.json_schema |= self.degrade.json_schema && !need.stream;
        can.parallel_tools |= self.degrade.parallel_tools && can.tools;
        can
    }

    /// Whether it can be told all of `need`'s request.
    #[must_use]
    pub const fn can_be_told(&self, need: &Need) -> bool {
        need.untold & (1 << (self.dialect & 7)) == 0
    }

    /// Whether its answers are as long as `need` asks for.
    #[must_use]
    pub fn gives_enough(&self, need: &Need) -> bool {
        self.degrade.max_output
            || need.max_output.zip(self.max_output).is_none_or(|(asked, most)| asked <= most)
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

/// A ladder's order and policy.
#[derive(Debug, Clone)]
pub struct LadderSpec {
    /// The rungs in their current order.
    pub rungs: Vec<RungIndex>,
    /// Whether somebody waits for the answer.
    pub interactive: bool,
    /// What every request on this ladder needs beside its own needs.
    pub require: Capabilities,
    /// The first clock, if the ladder sets one.
    pub ttft: Option<Duration>,
    /// The second clock.
    pub inter_token: Duration,
    /// The third clock, until the commit.
    pub total: Duration,
    /// The third clock of a committed stream.
    pub stream_total: Duration,
    /// Calls of the same rung after its first; `None`: the defaults of the walk.
    pub retries: Option<u32>,
    /// No retry and no waiting at all.
    pub fail_fast: bool,
    /// The most attempts a walk makes; `None`: rungs + retries + 1.
    pub max_attempts: Option<u32>,
    /// The longest wait for a hold; `None`: 2 s, or `total` when not interactive.
    pub patience: Option<Duration>,
    /// The operator says that requests here have no side effects.
    pub side_effects_none: bool,
    /// When the status goes out although no token has come.
    pub early_headers: Duration,
    /// Its hedging.
    pub hedge: HedgeSpec,
    /// Its retry budget.
    pub retry: RetrySpec,
    /// The most attempts in flight at the same time.
    pub max_in_flight: usize,
    /// The most hedges of one request, a replacement of a failed one apart.
    pub max_hedges: u32,
    /// So many rungs from the start, whoever is first; 0 or 1: no race.
    pub race: usize,
    /// Whether requests are moved past a degraded rung before it opens.
    pub shed: bool,
    /// This share of requests goes past rung one on purpose.
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
    /// What its time to first token depends on beside that.
    pub kind: Kind,
    /// The longest answer asked for, in tokens.
    pub max_output: Option<u64>,
    /// Whether a second call could do something twice.
    pub side_effects: bool,
    /// One bit for the number of each dialect that has no words for some of it.
    pub untold: u8,
    /// The number of its own dialect.
    pub dialect: u8,
    /// Whether its calls go out later than they are dialled: [`Input::Sent`] tells when.
    ///
    /// [`Input::Sent`]: crate::Input::Sent
    pub sent_later: bool,
    /// The number of the client whose request it is; 0 where clients are not told apart.
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

/// Requests that a rung needs about the same time for, but for the prompt's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kind {
    /// How much the model was told to think.
    pub effort: Effort,
    /// Whether there are pictures, sound or files to be read first.
    pub attachments: bool,
}

impl Kind {
    /// Whether the model was told to think before it answers.
    #[must_use]
    pub const fn thinks(self) -> bool {
        matches!(self.effort, Effort::Low | Effort::Medium | Effort::High)
    }
}

/// How much a model was told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// Nothing was said.
    #[default]
    Usual,
    /// Not at all, or next to it.
    Little,
    /// A little.
    Low,
    /// More, or as much as the model likes.
    Medium,
    /// As much as it takes.
    High,
}
