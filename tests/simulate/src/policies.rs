//! The policies that are compared, all of them the real core under other settings.

/// One of the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The baseline: a 15 s clock, then the next rung.
    Timeout,
    /// The same, and in addition rungs that fail often are left out for 5 s.
    CoolDown,
    /// A hedge after 2 s, no breaker.
    FixedHedge,
    /// Hedges by `auto`, no breaker.
    HedgeOnly,
    /// The breaker, no hedge.
    BreakerOnly,
    /// Belay's defaults.
    Ours,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Timeout,
        Self::CoolDown,
        Self::FixedHedge,
        Self::HedgeOnly,
        Self::BreakerOnly,
        Self::Ours,
    ];

    /// What it is called in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "time-out 15 s, fail over",
            Self::CoolDown => "cool-down 5 s",
            Self::FixedHedge => "hedge after 2 s",
            Self::HedgeOnly => "hedge auto, no breaker",
            Self::BreakerOnly => "breaker only",
            Self::Ours => "belay",
        }
    }

    /// Its key in the JSON file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Timeout => "timeout15",
            Self::CoolDown => "cooldown",
            Self::FixedHedge => "hedge2s",
            Self::HedgeOnly => "hedge_auto",
            Self::BreakerOnly => "breaker_only",
            Self::Ours => "belay",
        }
    }
}
