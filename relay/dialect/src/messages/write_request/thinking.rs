//! Finds the limit of tokens, and how many of them are for thinking.

use crate::messages::write_request::body;
use crate::neutral::{Effort, Request, Target, Thinking, ToolChoice};

/// The smallest budget that Anthropic accepts.
const LEAST: u64 = 1024;
/// Tokens for the answer itself, if the client did not set a limit.
const ANSWER: u64 = 8192;

/// The limit and the thinking of a request.
pub(crate) struct Plan {
    pub(crate) max_tokens: u64,
    pub(crate) thinking: Option<body::Thinking>,
}

impl Plan {
    /// `may_think`: the history allows thinking.
    pub(crate) fn of(
        request: &Request,
        target: &Target<'_>,
        may_think: bool,
        left_out: &mut Vec<&'static str>,
    ) -> Self {
        let most = target.max_output;
        let unthinking = request.max_output.or(most).unwrap_or(ANSWER);
        // Anthropic refuses thinking if a tool call is forced.
        let forced = matches!(request.tool_choice, Some(ToolChoice::Any | ToolChoice::Named(_)));
        let plan = match request.thinking.and_then(wish) {
            None => return Self { max_tokens: unthinking, thinking: None },
            // Without a budget Anthropic does not require signatures in the history.
            Some(None) => (!forced).then_some((unthinking, body::Thinking::Adaptive)),
            Some(Some(budget)) => {
                let with_answer = budget.saturating_add(ANSWER);
                let free = most.map_or(with_answer, |most| most.min(with_answer));
                let max_tokens = request.max_output.unwrap_or(free);
                fit_wish(request.thinking, budget, max_tokens)
                    .filter(|_| may_think && !forced)
                    .map(|budget_tokens| (max_tokens, body::Thinking::Enabled { budget_tokens }))
            }
        };
        if let Some((max_tokens, thinking)) = plan {
            return Self { max_tokens, thinking: Some(thinking) };
        }
        left_out.push("thinking");
        Self { max_tokens: unthinking, thinking: None }
    }
}

/// What the request asks for. `None`: no thinking; `Some(None)`: as much as the model decides; else
/// a budget.
fn wish(thinking: Thinking) -> Option<Option<u64>> {
    match thinking {
        Thinking::Off | Thinking::Effort(Effort::Minimal) => None,
        Thinking::Adaptive => Some(None),
        Thinking::Effort(Effort::Low) => Some(Some(LEAST)),
        Thinking::Effort(Effort::Medium) => Some(Some(8192)),
        Thinking::Effort(Effort::High) => Some(Some(24_576)),
        Thinking::Effort(Effort::Max) => Some(Some(32_000)),
        Thinking::Budget(budget) => Some(Some(budget.max(LEAST))),
    }
}

/// A budget that the client set is kept if it is below the limit. A budget that was made from an
/// effort leaves tokens for the answer, since the client did not set a number.
fn fit_wish(thinking: Option<Thinking>, budget: u64, max_tokens: u64) -> Option<u64> {
    let is_roomy = max_tokens >= budget.saturating_add(ANSWER);
    if is_roomy || !matches!(thinking, Some(Thinking::Effort(_))) {
        return fit_budget(budget, max_tokens);
    }
    Some(budget.min(max_tokens - max_tokens.div_ceil(4))).filter(|budget| *budget >= LEAST)
}

/// A budget that is below the limit: as it is, or lowered so that a quarter of the limit is left
/// for the answer. `None`: the smallest budget that Anthropic accepts does not fit.
pub(crate) fn fit_budget(budget: u64, max_tokens: u64) -> Option<u64> {
    if budget < max_tokens {
        return Some(budget);
    }
    (LEAST < max_tokens).then(|| (max_tokens - max_tokens / 4).max(LEAST))
}
