//! Puts a call's arguments together from pieces, each of which names its place.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A place that is deeper than this is refused.
const DEEPEST: usize = 32;
/// The most memory that a step of a path needs besides its key.
const STEP: usize = 2 * size_of::<Value>() + 32;

/// Arguments that grow.
#[derive(Debug, Default)]
pub(crate) struct Args {
    all: Value,
    held: usize,
}

/// A piece names a place that cannot exist.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misplaced;

/// One piece.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Piece {
    json_path: String,
    string_value: Option<String>,
    number_value: Option<serde_json::Number>,
    bool_value: Option<bool>,
    null_value: Option<Value>,
}

impl Args {
    /// Adds a piece. Pieces of one string follow one another.
    ///
    /// # Errors
    /// The piece does not fit into the arguments so far. Without it they would be wrong.
    pub(crate) fn add(&mut self, raw: &RawValue) -> Result<(), Misplaced> {
        let piece = serde_json::from_str::<Piece>(raw.get()).map_err(|_unreadable| Misplaced)?;
        let steps = piece.json_path.matches(['.', '[']).count();
        let cost = raw.get().len().saturating_add(steps.saturating_mul(STEP));
        self.held = self.held.saturating_add(cost);
        let slot = self.slot(&piece.json_path).ok_or(Misplaced)?;
        match (slot, piece) {
            (Value::String(all), Piece { string_value: Some(text), .. }) => all.push_str(&text),
            (slot, Piece { string_value: Some(text), .. }) => *slot = Value::String(text),
            (slot, Piece { number_value: Some(number), .. }) => *slot = Value::Number(number),
            (slot, Piece { bool_value: Some(flag), .. }) => *slot = Value::Bool(flag),
            (slot, Piece { null_value: Some(_), .. }) => *slot = Value::Null,
            _ => {}
        }
        Ok(())
    }

    /// How many bytes are held, estimated.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }

    /// The arguments as JSON.
    pub(crate) fn finish(self) -> String {
        match self.all {
            Value::Null => "{}".to_owned(),
            value => value.to_string(),
        }
    }

    /// The place that a path such as `$.a.b[0]['c']` names. It is created if it does not exist.
    fn slot(&mut self, path: &str) -> Option<&mut Value> {
        let mut slot = &mut self.all;
        let mut rest = path.strip_prefix('$')?;
        for _ in 0..DEEPEST {
            if rest.is_empty() {
                return Some(slot);
            }
            let (step, after) = step(rest)?;
            rest = after;
            slot = match step {
                Step::Key(key) => {
                    if slot.is_null() {
                        *slot = Value::Object(Map::new());
                    }
                    slot.as_object_mut()?.entry(key).or_insert(Value::Null)
                }
                Step::Index(index) => {
                    if slot.is_null() {
                        *slot = Value::Array(Vec::new());
                    }
                    let list = slot.as_array_mut()?;
                    // A list grows element by element.
                    if index == list.len() {
                        list.push(Value::Null);
                    }
                    list.get_mut(index)?
                }
            };
        }
        None
    }
}

enum Step {
    Key(String),
    Index(usize),
}

fn step(path: &str) -> Option<(Step, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at_checked(end)?;
        return (!key.is_empty()).then(|| (Step::Key(key.to_owned()), after));
    }
    let (inner, after) = path.strip_prefix('[')?.split_once(']')?;
    let quoted = inner.strip_prefix(['\'', '"']).and_then(|key| key.strip_suffix(['\'', '"']));
    Some(match quoted {
        Some(key) => (Step::Key(key.to_owned()), after),
        None => (Step::Index(inner.parse().ok()?), after),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(pieces: &[&str]) -> String {
        let mut args = Args::default();
        for piece in pieces {
            args.add(serde_json::from_str(piece).unwrap()).unwrap();
        }
        args.finish()
    }

    #[test]
    fn pieces_find_their_places() {
        assert_eq!(args(&[]), "{}");
        let pieces = [
            r#"{"jsonPath":"$.city","stringValue":"Os"}"#,
            r#"{"jsonPath":"$.city","stringValue":"lo"}"#,
            r#"{"jsonPath":"$.days[0]","nullValue":"NULL_VALUE"}"#,
            r#"{"jsonPath":"$.days[1].n","numberValue":2}"#,
            r#"{"jsonPath":"$['odd.key']","boolValue":true}"#,
            r#"{"jsonPath":"$.none","nullValue":"NULL_VALUE"}"#,
        ];
        let expected = serde_json::json!(
            {"city":"Oslo","days":[null,{"n":2}],"odd.key":true,"none":null}
        );
        assert_eq!(serde_json::from_str::<Value>(&args(&pieces)).unwrap(), expected);
    }

    #[test]
    fn a_place_that_cannot_be_is_told() {
        let deep = format!("${}", ".a".repeat(99));
        for bad in ["city", "$.a[1]", "$.a[99999999]", "$.", "$[x]", "$.a[0", "$.ok.x", &deep] {
            let mut args = Args::default();
            let good = r#"{"jsonPath":"$.ok","numberValue":1}"#;
            assert_eq!(args.add(serde_json::from_str(good).unwrap()), Ok(()));
            let piece = serde_json::json!({"jsonPath": bad, "stringValue": "x"}).to_string();
            let piece: &RawValue = serde_json::from_str(&piece).unwrap();
            assert_eq!(args.add(piece), Err(Misplaced), "{bad}");
        }
    }

    #[test]
    fn what_is_held_grows_with_what_is_made() {
        let mut args = Args::default();
        for n in 0..1000 {
            let piece = format!(r#"{{"jsonPath":"$[{n}].a.b","numberValue":1}}"#);
            args.add(serde_json::from_str(&piece).unwrap()).unwrap();
        }
        assert!(args.held() > 1000 * 3 * size_of::<Value>(), "{}", args.held());
    }
}
