//! The words for a rung's circuit breaker, and for an operator's override of it.

use crate::words::words;

words! {
    /// A breaker's state.
    BreakerState, "breaker state" {
        /// It lets traffic through.
        Closed = "closed",
        /// It lets probes through, one at a time.
        HalfOpen = "half_open",
        /// It lets nothing through. One whose cool-down is over stays open until the next
        /// request probes it.
        Open = "open",
    }
}

words! {
    /// The rule by which a breaker's state or weight changed.
    TransitionRule, "rule of a breaker" {
        /// Bad first-token verdicts in a row.
        BadRun = "bad_run",
        /// Broken streams in a row.
        BrokenRun = "broken_run",
        /// The share of bad calls in the window.
        BadShare = "bad_share",
        /// Too many calls hang beside others that are as quick as ever.
        Hanging = "hanging",
        /// The configured limit on the p95 of the time to first token.
        SlowP95 = "slow_p95",
        /// No token ever, many times in a row.
        NeverAToken = "never_a_token",
        /// The provider refused our account.
        Auth = "auth",
        /// A probe was bad.
        ProbeBad = "probe_bad",
        /// The cool-down is over.
        CooledDown = "cooled_down",
        /// Enough probes were good.
        ProbesGood = "probes_good",
        /// A last resort was good.
        LastResortGood = "last_resort_good",
        /// It would have opened, but it is some ladder's last rung.
        Spared = "spared",
        /// An operator's doing.
        Operator = "operator",
        /// The rung is slower than it was, and steadily so: that is its new normal.
        Rebased = "rebased",
        /// An operator's override came to its time.
        Expired = "expired",
        /// The account that was refused has another key.
        KeyChanged = "key_changed",
    }
}

impl TransitionRule {
    /// What it means, as a sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::BadRun => "failed or late before the first token, several times in a row",
            Self::BrokenRun => "streams broke or fell silent, several times in a row",
            Self::BadShare => "too many of the last calls were bad",
            Self::Hanging => "too many calls hung while the others were as fast as usual",
            Self::SlowP95 => "the p95 of the time to first token was over its configured limit",
            Self::NeverAToken => "no token from any call since the start",
            Self::Auth => "the provider refused our account",
            Self::ProbeBad => "a probe was bad",
            Self::CooledDown => "the cool-down was over",
            Self::ProbesGood => "enough probes were good",
            Self::LastResortGood => "a last resort was good",
            Self::Spared => "bad, but kept at a lower weight: some ladder has no other rung",
            Self::Operator => "an operator changed it",
            Self::Rebased => "steadily slower than before: that is its new norm",
            Self::Expired => "an operator's override ended in its time",
            Self::KeyChanged => "the account has another key",
        }
    }

    /// Whether the rung is on its way back by this rule, or an operator acted on it. Then the
    /// outcomes of its last calls do not explain its present state.
    #[must_use]
    pub const fn is_a_return(self) -> bool {
        matches!(
            self,
            Self::KeyChanged
                | Self::CooledDown
                | Self::Operator
                | Self::Expired
                | Self::LastResortGood
        )
    }
}

words! {
    /// An operator's override of a rung.
    OverrideMode as "Mode", "override" {
        /// None: the breaker decides.
        Auto = "auto",
        /// No new attempt of any kind.
        ForcedOpen = "forced_open",
        /// Traffic whatever the breaker says; holds count.
        ForcedClosed = "forced_closed",
        /// Behind every other usable rung of each ladder.
        Demoted = "demoted",
    }
}

#[expect(clippy::derivable_impls, reason = "the derive needs a mark on one member")]
impl Default for OverrideMode {
    fn default() -> Self {
        Self::Auto
    }
}
