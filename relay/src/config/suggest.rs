//! "Did you mean …?": the nearest of the known words.

/// Words longer than this are not compared: no known word is, and the cost is
/// the product of the lengths.
const LONGEST: usize = 64;

/// The candidate nearest to `found`, if it is near enough to be a slip.
pub(super) fn nearest<'c>(
    found: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    if found.len() > LONGEST {
        return None;
    }
    let slips = |candidate: &str| (candidate.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (distance(found, candidate), candidate))
        .filter(|(away, candidate)| *away <= slips(candidate))
        .min_by_key(|(away, _)| *away)
        .map(|(_, candidate)| candidate)
}

/// What to do about an unknown word: the nearest one, or the list.
pub(super) fn fix<'c>(found: &str, known: impl IntoIterator<Item = &'c str> + Clone) -> String {
    if let Some(near) = nearest(found, known.clone()) {
        return format!("did you mean '{near}'?");
    }
    let all: Vec<&str> = known.into_iter().collect();
    match all.as_slice() {
        [] => "there is none to choose from yet".to_owned(),
        some if some.len() <= 24 => format!("known here: {}", some.join(", ")),
        _ => "see the list of names in this file".to_owned(),
    }
}

/// Edit distance ignoring case, where two swapped neighbours count as one slip.
fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        for (found, expected) in [
            ("opnai", Some("openai")),
            ("opneai", Some("openai")),
            ("OpenAI", Some("openai")),
            ("anthropic", None),
            ("", None),
        ] {
            assert_eq!(nearest(found, ["openai", "local"]), expected, "{found}");
        }
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn without_a_near_one_the_list_is_shown() {
        assert_eq!(fix("zzzzzz", ["on", "off"]), "known here: on, off");
        assert_eq!(fix("x", []), "there is none to choose from yet");
    }
}
