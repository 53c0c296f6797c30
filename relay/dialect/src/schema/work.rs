//! Finds how much work a schema makes, without doing it.
//!
//! A schema of 3 KB can ask for more checks than anyone can do: thirty definitions, each of which
//! refers to the next one twice, are 2^30 checks of the same value. A validator does them one by
//! one. Here they are counted instead: how often each part of a schema is applied to each part of
//! an answer, as a number that is passed along the references. The time for that is proportional to
//! the parts that are applied at all.

use super::error::SchemaError;
use super::limits::{DEEPEST, MOST_AT_ONCE, MOST_PARTS, MOST_PATTERNS};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The most checks that a whole answer may cost.
const MOST_CHECKS: u64 = 500_000;
/// This many bytes of a text cost as much as one check.
const BYTES_PER_CHECK: usize = 256;

/// Keywords whose schemas apply to the same value.
const HERE: &[&str] =
    &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords whose schemas apply to some of the value's parts.
const BELOW: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
];
/// Keywords whose schemas apply only if something refers to them.
const KEPT: &[&str] = &["$defs", "definitions"];

/// A schema's parts, and to which values each one applies.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Sorted: a part comes before the parts that it applies to the same value.
    parts: Vec<Part>,
    /// The index of the part that is the whole schema.
    root: usize,
}

#[derive(Debug, Default)]
struct Part {
    /// What one check of it costs.
    cost: u64,
    /// The parts that it applies to the same value.
    here: Vec<usize>,
    /// The parts that it applies to the member of this name.
    named: HashMap<String, Vec<usize>>,
    /// The parts that it applies to any member or element.
    below: Vec<usize>,
}

impl Work {
    /// Splits a schema into its parts.
    ///
    /// # Errors
    /// Why the relay will not check answers against it.
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaError> {
        let parts = Reading::of(schema)?.parts;
        let (parts, root) = in_order(parts)?;
        let work = Self { parts, root };
        work.bounded()?;
        Ok(work)
    }

    /// Checks that no value costs too much and that no chain is too long.
    fn bounded(&self) -> Result<(), SchemaError> {
        // From the last part to the first, so that the parts which a part applies are known before
        // it.
        let mut known: Vec<(u64, usize)> = vec![(0, 0); self.parts.len()];
        for (at, part) in self.parts.iter().enumerate().rev() {
            let (mut checks, mut depth) = (part.cost, 0);
            for (more, deeper) in part.here.iter().filter_map(|next| known.get(*next)) {
                checks = checks.saturating_add(*more);
                depth = depth.max(deeper.saturating_add(1));
            }
            if checks > MOST_AT_ONCE {
                return Err(SchemaError::Checks);
            }
            if depth > DEEPEST {
                return Err(SchemaError::Chain);
            }
            if let Some(slot) = known.get_mut(at) {
                *slot = (checks, depth);
            }
        }
        Ok(())
    }

    /// Whether a check of `answer` costs little enough.
    pub(crate) fn allows(&self, answer: &Value) -> bool {
        let mut checks = 0_u64;
        let mut waiting = vec![(answer, Rc::new(BTreeMap::from([(self.root, 1_u64)])))];
        while let Some((value, due)) = waiting.pop() {
            let mut due = Rc::unwrap_or_clone(due);
            let mut applied: Vec<(&Part, u64)> = Vec::new();
            while let Some((at, times)) = due.pop_first() {
                let Some(part) = self.parts.get(at) else { continue };
                checks = checks
                    .saturating_add(times.saturating_mul(part.cost).saturating_mul(size(value)));
                if checks > MOST_CHECKS {
                    return false;
                }
                add(&mut due, &part.here, times);
                applied.push((part, times));
            }
            if !has_parts(value) {
                continue;
            }
            // What applies to every part of the value is found once for all of them.
            let mut every = BTreeMap::new();
            applied.iter().for_each(|(part, times)| add(&mut every, &part.below, *times));
            applied.retain(|(part, _)| !part.named.is_empty());
            match value {
                Value::Array(items) if !every.is_empty() => {
                    let every = Rc::new(every);
                    waiting.extend(items.iter().map(|item| (item, Rc::clone(&every))));
                }
                Value::Object(members) => {
                    for (name, member) in members {
                        let mut due = every.clone();
                        for (part, times) in &applied {
                            checks = checks.saturating_add(1);
                            let named = part.named.get(name).map_or(&[][..], Vec::as_slice);
                            add(&mut due, named, *times);
                        }
                        if !due.is_empty() {
                            waiting.push((member, Rc::new(due)));
                        }
                    }
                }
                _ => {}
            }
        }
        true
    }
}

fn has_parts(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

fn add(due: &mut BTreeMap<usize, u64>, parts: &[usize], times: u64) {
    for part in parts {
        let slot = due.entry(*part).or_default();
        *slot = slot.saturating_add(times);
    }
}

fn size(value: &Value) -> u64 {
    let bytes = value.as_str().map_or(0, str::len);
    u64::try_from(bytes / BYTES_PER_CHECK).unwrap_or(u64::MAX).saturating_add(1)
}

/// The same parts in an order where each one comes before those that it applies to the same value;
/// and the new index of the first part.
fn in_order(parts: Vec<Part>) -> Result<(Vec<Part>, usize), SchemaError> {
    let mut waits_for = vec![0_usize; parts.len()];
    for next in parts.iter().flat_map(|part| &part.here) {
        if let Some(count) = waits_for.get_mut(*next) {
            *count += 1;
        }
    }
    let mut ready: Vec<usize> =
        (0..parts.len()).filter(|at| waits_for.get(*at) == Some(&0)).collect();
    let mut order = Vec::with_capacity(parts.len());
    while let Some(at) = ready.pop() {
        order.push(at);
        for next in parts.get(at).into_iter().flat_map(|part| &part.here) {
            if let Some(count) = waits_for.get_mut(*next) {
                *count -= 1;
                if *count == 0 {
                    ready.push(*next);
                }
            }
        }
    }
    if order.len() < parts.len() {
        return Err(SchemaError::Circular);
    }
    let mut place = vec![0; parts.len()];
    for (to, from) in order.iter().enumerate() {
        if let Some(slot) = place.get_mut(*from) {
            *slot = to;
        }
    }
    let moved = |list: Vec<usize>| -> Vec<usize> {
        list.into_iter().filter_map(|at| place.get(at).copied()).collect()
    };
    let mut all: Vec<Option<Part>> = parts.into_iter().map(Some).collect();
    let taken = order.iter().filter_map(|at| all.get_mut(*at)?.take());
    let parts = taken.map(|part| Part {
        cost: part.cost,
        here: moved(part.here),
        named: part.named.into_iter().map(|(name, list)| (name, moved(list))).collect(),
        below: moved(part.below),
    });
    Ok((parts.collect(), place.first().copied().unwrap_or_default()))
}

/// A schema that is being split into its parts.
struct Reading<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
    /// The part of each value of the schema, by the value's address.
    known: HashMap<*const Value, usize>,
    waiting: Vec<(usize, &'s Value)>,
    parts: Vec<Part>,
    patterns: usize,
}

impl<'s> Reading<'s> {
    fn of(root: &'s Value) -> Result<Self, SchemaError> {
        let mut reading = Self {
            root,
            anchors: anchors(root),
            known: HashMap::new(),
            waiting: Vec::new(),
            parts: Vec::new(),
            patterns: 0,
        };
        reading.part(root);
        while let Some((at, value)) = reading.waiting.pop() {
            let part = reading.read(value, at == 0)?;
            if let Some(slot) = reading.parts.get_mut(at) {
                *slot = part;
            }
            if reading.parts.len() > MOST_PARTS {
                return Err(SchemaError::Parts);
            }
            if reading.patterns > MOST_PATTERNS {
                return Err(SchemaError::Patterns);
            }
        }
        Ok(reading)
    }

    /// The number of the part that `value` is.
    fn part(&mut self, value: &'s Value) -> usize {
        let next = self.parts.len();
        let at = *self.known.entry(std::ptr::from_ref(value)).or_insert(next);
        if at == next {
            self.parts.push(Part::default());
            self.waiting.push((at, value));
        }
        at
    }

    fn read(&mut self, value: &'s Value, is_root: bool) -> Result<Part, SchemaError> {
        let Some(schema) = value.as_object() else {
            return Ok(Part { cost: 1, ..Part::default() });
        };
        if !is_root && schema.get("$id").is_some_and(Value::is_string) {
            return Err(SchemaError::OwnId);
        }
        let mut part = Part { cost: cost(schema), ..Part::default() };
        self.patterns += usize::from(schema.contains_key("pattern"));
        for (keyword, value) in schema {
            match keyword.as_str() {
                "$ref" => {
                    let target = self.target(value)?;
                    part.here.push(self.part(target));
                }
                "$dynamicRef" => return Err(SchemaError::Keyword("$dynamicRef")),
                "$recursiveRef" => return Err(SchemaError::Keyword("$recursiveRef")),
                "properties" => {
                    for (name, one) in value.as_object().into_iter().flatten() {
                        let at = self.part(one);
                        part.named.entry(name.clone()).or_default().push(at);
                    }
                }
                word if HERE.contains(&word) => part.here.extend(self.all_of(word, value)),
                word if BELOW.contains(&word) => part.below.extend(self.all_of(word, value)),
                word if KEPT.contains(&word) => drop(self.all_of(word, value)),
                _ => {}
            }
        }
        Ok(part)
    }

    /// The parts in the value of a keyword: one schema, a list, or named schemas.
    fn all_of(&mut self, keyword: &str, value: &'s Value) -> Vec<usize> {
        let by_name = matches!(keyword, "dependentSchemas" | "dependencies" | "patternProperties")
            || KEPT.contains(&keyword);
        match value {
            Value::Array(all) => all.iter().map(|one| self.part(one)).collect(),
            Value::Object(all) if by_name => {
                self.patterns += if keyword == "patternProperties" { all.len() } else { 0 };
                all.values().map(|one| self.part(one)).collect()
            }
            one => vec![self.part(one)],
        }
    }

    fn target(&self, reference: &Value) -> Result<&'s Value, SchemaError> {
        let place = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let place = decoded(place.ok_or(SchemaError::Outside)?);
        let found = if place.is_empty() || place.starts_with('/') {
            self.root.pointer(&place)
        } else {
            self.anchors.get(place.as_str()).copied()
        };
        found.ok_or(SchemaError::Outside)
    }
}

/// The cost of one check: it looks at all values that the schema lists.
fn cost(schema: &Map<String, Value>) -> u64 {
    let listed = ["enum", "required"].iter().filter_map(|word| schema.get(*word)?.as_array());
    let listed = listed.map(Vec::len).sum::<usize>();
    u64::try_from(listed / 8).unwrap_or(u64::MAX).saturating_add(1)
}

/// Finds every `$anchor`, at any depth.
fn anchors(root: &Value) -> HashMap<&str, &Value> {
    let (mut found, mut waiting) = (HashMap::new(), vec![root]);
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(all) => waiting.extend(all),
            Value::Object(all) => {
                if let Some(name) = all.get("$anchor").and_then(Value::as_str) {
                    found.insert(name, value);
                }
                waiting.extend(all.values());
            }
            _ => {}
        }
    }
    found
}

/// A fragment with its `%24` escapes decoded.
fn decoded(fragment: &str) -> String {
    let mut out = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match escaped.filter(|_| *byte == b'%') {
            Some(value) => {
                out.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Definitions, each of which has `link` to the next one.
    fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut defs = Map::new();
        for n in 0..length {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            defs.insert(format!("d{n}"), link(next));
        }
        defs.insert(format!("d{length}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    }

    fn twice(next: Value) -> Value {
        json!({"allOf": [next, next]})
    }

    /// An object of this depth.
    fn deep(depth: usize) -> Value {
        (0..depth).fold(json!({}), |inner, _| json!({ "a": inner }))
    }

    #[test]
    fn what_costs_too_much_is_refused_by_name() {
        for (schema, said) in [
            (chain(30, twice), "checks of one value"),
            (chain(13, |next| json!({"anyOf": [next, next]})), "checks of one value"),
            (chain(30, |next| json!({"if": next, "then": next, "else": next})), "checks of one"),
            (chain(101, |next| next), "nest over"),
            (json!({"allOf": [{"$ref": "#"}]}), "refers to itself"),
            (
                json!({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}),
                "refers to itself",
            ),
            (json!({"$ref": "https://example.com/x"}), "not in it"),
            (json!({"$ref": "#/$defs/none"}), "not in it"),
            (json!({"$ref": "#none"}), "not in it"),
            (json!({"items": {"$dynamicRef": "#x"}}), "$dynamicRef"),
            (json!({"items": {"$id": "x"}}), "$id"),
            (json!({"prefixItems": vec![json!({}); 20_001]}), "parts"),
            (json!({"prefixItems": vec![json!({"pattern": "a"}); 501]}), "patterns"),
        ] {
            let why = Work::of(&schema).unwrap_err();
            assert!(why.to_string().contains(said), "{why}");
        }
    }

    #[test]
    fn what_people_write_is_taken() {
        let tree = json!({"type": "object", "properties": {
            "left": {"$ref": "#"}, "right": {"$ref": "#"}, "n": {"type": "integer"}}});
        let percent = json!({"$ref": "#/%24defs/a%20b", "$defs": {"a b": {"type": "object"}}});
        let anchor = json!({"$ref": "#x", "$defs": {"a": {"$anchor": "x", "type": "object"}}});
        // Names of members that look like keywords.
        let names = json!({"properties": {"$ref": {"type": "string"}, "allOf": {}, "$id": {}}});
        // Something that is not used refers to the whole.
        let kept = json!({"type": "object", "$defs": {"whole": {"$ref": "#"}}});
        for schema in [
            kept,
            tree,
            percent,
            anchor,
            names,
            json!(true),
            chain(9, twice),
            chain(90, |next| next),
        ] {
            let work = Work::of(&schema).unwrap();
            assert!(work.allows(&deep(60)), "{schema}");
        }
    }

    #[test]
    fn an_answer_that_makes_a_recursion_explode_is_not_checked() {
        let both = json!({"properties": {"a": {"$ref": "#"}}});
        let schema = json!({"allOf": [both, both]});
        let work = Work::of(&schema).unwrap();
        assert!(work.allows(&deep(10)));
        assert!(!work.allows(&deep(40)), "2^40 checks");
        let flat = Work::of(&json!({"items": {"type": "integer"}})).unwrap();
        assert!(flat.allows(&Value::Array(vec![json!(1); 100_000])));
        assert!(!flat.allows(&Value::Array(vec![json!(1); 600_000])));
        let text = Work::of(&json!({"pattern": "(a+)+$"})).unwrap();
        assert!(!text.allows(&Value::String("a".repeat(200_000_000))));
    }
}
