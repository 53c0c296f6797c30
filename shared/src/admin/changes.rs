//! What an operator asks the relay to change, and what is so afterwards.
//!
//! One body serves `POST /admin/v1/changes` and `POST /admin/v1/preview`; the
//! short forms under `/rungs/{rung}/override` and `/ladders/{ladder}/order` make
//! one of it. Unknown fields are refused: a misspelt one must not be a change
//! that does less than was meant.

use super::ttl::Ttl;
use crate::{OrderSource, OverrideMode, RefusedReason, UnixMillis, Word};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Several changes, made together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangeRequest {
    /// Made by the client, 1 to 64 of `A-Z a-z 0-9 . _ -`, and never used before: the
    /// same id again gives the first answer and changes nothing.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::NewId))]
    pub id: String,
    /// Why, for whoever reads it at night; 1 to 400 characters on one line.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::Reason))]
    pub reason: String,
    /// How long it lasts. Default 15 min for overrides, 4 h for orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub ttl: Option<Ttl>,
    /// What is to be changed; 1 to 64.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 64))]
    pub changes: Vec<Change>,
    /// The version that each rung or ladder is expected to have. A name that is both a
    /// rung's and a ladder's is written `rung/NAME` or `ladder/NAME`. Needed for every
    /// ladder whose order changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<String, u64>,
    /// Ladders that may be left without a rung that is not forced open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub enum Change {
    /// An override of one rung, or of all that a name stands for.
    Override {
        /// Whose.
        target: Target,
        /// What it is to be.
        mode: OverrideMode,
        /// Whether streams that are committed to the rung end now, with an error that
        /// says so. Only with `forced_open`; default false.
        cut_streams: bool,
    },
    /// The order of a ladder.
    Order {
        /// Whose.
        ladder: String,
        /// What it is to be.
        order: NewOrder,
    },
}

/// Whose override is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// This rung.
    Rung(String),
    /// All rungs of this provider.
    Provider(String),
    /// All rungs of this failure domain.
    Domain(String),
}

/// A ladder's new order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum NewOrder {
    /// All rungs of the ladder, the one to be tried first in front.
    Rungs(Vec<String>),
    /// Back to the config.
    Config(ConfigWord),
}

/// The word `config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ConfigWord {
    /// `config`.
    #[serde(rename = "config")]
    Config,
}

/// A change as it is written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rung: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<OverrideMode>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut_streams: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ladder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<NewOrder>,
}

impl TryFrom<Wire> for Change {
    type Error = &'static str;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        let Wire { rung, provider, domain, mode, cut_streams, ladder, order } = wire;
        let named = [rung.is_some(), provider.is_some(), domain.is_some(), ladder.is_some()];
        if named.into_iter().filter(|&is| is).count() != 1 {
            return Err("a change names exactly one of rung, provider, domain and ladder");
        }
        if let Some(ladder) = ladder {
            return match order {
                _ if mode.is_some() || cut_streams => {
                    Err("a change of a ladder has an order, and neither mode nor cut_streams")
                }
                Some(order) => Ok(Self::Order { ladder, order }),
                None => Err("a change of a ladder needs its order, or \"order\": \"config\""),
            };
        }
        if order.is_some() {
            return Err("an order is a ladder's: name the ladder");
        }
        let target = match (rung, provider, domain) {
            (Some(rung), ..) => Target::Rung(rung),
            (_, Some(provider), _) => Target::Provider(provider),
            (.., domain) => Target::Domain(domain.unwrap_or_default()),
        };
        let modes = "a change of rungs needs a mode: forced_open, forced_closed, demoted or auto";
        let mode = mode.ok_or(modes)?;
        if cut_streams && mode != OverrideMode::ForcedOpen {
            return Err("cut_streams goes with forced_open only");
        }
        Ok(Self::Override { target, mode, cut_streams })
    }
}

impl From<Change> for Wire {
    fn from(change: Change) -> Self {
        match change {
            Change::Override { target, mode, cut_streams } => {
                let wire = Self { mode: Some(mode), cut_streams, ..Self::default() };
                match target {
                    Target::Rung(name) => Self { rung: Some(name), ..wire },
                    Target::Provider(name) => Self { provider: Some(name), ..wire },
                    Target::Domain(name) => Self { domain: Some(name), ..wire },
                }
            }
            Change::Order { ladder, order } => {
                Self { ladder: Some(ladder), order: Some(order), ..Self::default() }
            }
        }
    }
}

/// `PUT /admin/v1/rungs/{rung}/override`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutOverride {
    /// See [`ChangeRequest::id`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::NewId))]
    pub id: String,
    /// See [`ChangeRequest::reason`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::Reason))]
    pub reason: String,
    /// See [`ChangeRequest::ttl`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub ttl: Option<Ttl>,
    /// What it is to be.
    pub mode: OverrideMode,
    /// See [`Change::Override`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_streams: bool,
    /// See [`ChangeRequest::accept`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
}

/// `PUT /admin/v1/ladders/{ladder}/order`, with `If-Match: "<version>"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutOrder {
    /// See [`ChangeRequest::id`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::NewId))]
    pub id: String,
    /// See [`ChangeRequest::reason`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::Reason))]
    pub reason: String,
    /// See [`ChangeRequest::ttl`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub ttl: Option<Ttl>,
    /// All rungs of the ladder, the one to be tried first in front.
    pub rungs: Vec<String>,
}

/// What every other call that does something carries: the two `DELETE`s, probe, check,
/// undo, and the end of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", schema(as = Deed))]
pub struct ActionBody {
    /// See [`ChangeRequest::id`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::NewId))]
    pub id: String,
    /// See [`ChangeRequest::reason`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::Reason))]
    pub reason: String,
    /// See [`ChangeRequest::accept`]; of use to an undo only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
}

/// A rung's override as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverrideNow {
    /// Whose.
    pub rung: String,
    /// What it is.
    pub mode: OverrideMode,
    /// Rises with each change, an end by itself included; 0 before the first.
    pub version: u64,
    /// Whether committed streams were cut with it.
    pub cut_streams: bool,
    /// Who set it; `None` where there is none.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Since when.
    pub at: Option<UnixMillis>,
    /// When it ends by itself; `None`: never.
    pub until_at: Option<UnixMillis>,
    /// The action that set it.
    pub action: Option<String>,
}

/// A ladder's order as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OrderNow {
    /// Whose.
    pub ladder: String,
    /// The rungs, the one to be tried first in front.
    pub order: Vec<String>,
    /// The same as the config has it.
    pub config_order: Vec<String>,
    /// Whose order it is.
    pub source: OrderSource,
    /// Rises with each change, an end by itself included; 0 before the first.
    pub version: u64,
    /// Who set it; `None` where it is the config's.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Since when.
    pub at: Option<UnixMillis>,
    /// When it ends by itself; `None`: never.
    pub until_at: Option<UnixMillis>,
    /// The action that set it.
    pub action: Option<String>,
}

/// What is so now, of what a change names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Present {
    /// Overrides.
    #[serde(default)]
    pub rungs: Vec<OverrideNow>,
    /// Orders.
    #[serde(default)]
    pub ladders: Vec<OrderNow>,
}

/// The answer to a change, an undo included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeAnswer {
    /// The change's id, under which `GET /admin/v1/actions/{id}` finds it.
    pub id: String,
    /// When it was done.
    pub at: UnixMillis,
    /// Whose token it came with; `local` where no token is configured.
    pub by: String,
    /// What is so since.
    pub now: Present,
    /// Whether it is in the journal, so that a restart does not forget it. If not, it
    /// is in force all the same.
    pub journaled: bool,
}

/// Why a call was refused. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Refusal {
    /// The details.
    pub error: RefusalDetail,
}

/// See [`Refusal`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusalDetail {
    /// What is wrong and what to do about it, in a sentence.
    pub message: String,
    /// The same in one word, such as `version`, `last_rung`, `unknown_rung`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false, value_type = Option<String>))]
    pub code: Option<Word<RefusedReason>>,
    /// Ladders that would be left with forced-open rungs only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<String>,
    /// What is so now, where the caller did not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub present: Option<Present>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reads_what_it_writes() {
        for text in [
            r#"{"rung":"sol","mode":"forced_open","cut_streams":true}"#,
            r#"{"provider":"openai","mode":"demoted"}"#,
            r#"{"domain":"us-east","mode":"auto"}"#,
            r#"{"ladder":"chat","order":["b","a"]}"#,
            r#"{"ladder":"chat","order":"config"}"#,
        ] {
            let change: Change = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&change).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_change_is_told_why() {
        for (text, why) in [
            (r#"{"mode":"auto"}"#, "exactly one of"),
            (r#"{"rung":"a","domain":"b","mode":"auto"}"#, "exactly one of"),
            (r#"{"rung":"a"}"#, "needs a mode"),
            (r#"{"rung":"a","mode":"open"}"#, "unknown variant"),
            (r#"{"rung":"a","mode":"auto","cut_streams":true}"#, "with forced_open only"),
            (r#"{"rung":"a","mode":"auto","order":["a"]}"#, "name the ladder"),
            (r#"{"ladder":"a"}"#, "needs its order"),
            (r#"{"ladder":"a","order":["a"],"mode":"auto"}"#, "neither mode nor"),
            (r#"{"rung":"a","mode":"auto","tll":"1m"}"#, "unknown field"),
        ] {
            let error = serde_json::from_str::<Change>(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
