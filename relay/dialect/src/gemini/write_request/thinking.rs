//! Writes how much Gemini is asked to reason.

use crate::gemini::write_request::body::ThinkingConfig;
use crate::neutral::{Effort, Thinking};

/// The smallest and the largest budget of the models whose name contains the word; outside of them
/// a request is refused. The last row is for all other names.
const BUDGETS: &[(&str, u64, u64)] = &[("flash", 0, 24_576), ("pro", 128, 32_768), ("", 0, 32_768)];

/// Models that do not reason, or only if they are asked to, and that refuse a request not to
/// reason.
const UNTHINKING: &[&str] = &["gemini-1", "gemini-2.0", "gemma"];

/// The config for `thinking`; `None`: none has to be sent.
pub(crate) fn write(
    thinking: Thinking,
    model: &str,
    left_out: &mut Vec<&'static str>,
) -> Option<ThinkingConfig> {
    let budget = match thinking {
        Thinking::Adaptive => return Some(shown(-1)),
        Thinking::Off => 0,
        Thinking::Effort(Effort::Minimal) => 512,
        Thinking::Effort(Effort::Low) => 1024,
        Thinking::Effort(Effort::Medium) => 8192,
        Thinking::Effort(Effort::High) => 24_576,
        Thinking::Effort(Effort::Max) => 32_768,
        Thinking::Budget(budget) => budget,
    };
    let of_model = BUDGETS.iter().find(|(word, ..)| model.contains(word));
    let (least, most) = of_model.map_or((0, u64::MAX), |(_, least, most)| (*least, *most));
    let thinking_budget = i64::try_from(budget.clamp(least, most)).unwrap_or(i64::MAX);
    if budget > 0 {
        return Some(shown(thinking_budget));
    }
    let name = model.rsplit('/').next().unwrap_or(model);
    if UNTHINKING.iter().any(|old| name.starts_with(old)) {
        return None;
    }
    if least > 0 {
        // Its reasoning cannot be switched off, only limited.
        left_out.push("thinking");
    }
    Some(ThinkingConfig { thinking_budget, include_thoughts: false })
}

const fn shown(thinking_budget: i64) -> ThinkingConfig {
    ThinkingConfig { thinking_budget, include_thoughts: true }
}
