//! Moves of rungs within an order. Each move keeps its intent ("sol to the top", "haiku before
//! opus"), not the resulting list, so that it can be applied to another order.

/// Where a rung was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In front of all others.
    Top,
    /// Before this rung.
    Before(String),
    /// Behind all others.
    Bottom,
}

/// A rung was put elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The rung.
    pub rung: String,
    /// Where it was put.
    pub to: Place,
}

impl Move {
    /// The move that put the rung at `at` of `rungs` there.
    pub(super) fn of(rungs: &[String], at: usize) -> Option<Self> {
        let to = match (at, rungs.get(at + 1)) {
            (0, _) => Place::Top,
            (_, Some(next)) => Place::Before(next.clone()),
            (_, None) => Place::Bottom,
        };
        Some(Self { rung: rungs.get(at)?.clone(), to })
    }
}

/// The moves once more, on another order. A rung that is not there any more is left out.
pub(super) fn again(order: &[String], moves: &[Move]) -> Vec<String> {
    let mut rungs = order.to_vec();
    for one in moves {
        let Some(from) = rungs.iter().position(|rung| *rung == one.rung) else { continue };
        let rung = rungs.remove(from);
        let to = match &one.to {
            Place::Top => Some(0),
            Place::Before(next) => rungs.iter().position(|rung| rung == next),
            Place::Bottom => None,
        };
        rungs.insert(to.unwrap_or(rungs.len()), rung);
    }
    rungs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|&name| name.to_owned()).collect()
    }

    fn put(rung: &str, before: Option<&str>) -> Move {
        let to = before.map_or(Place::Bottom, |next| Place::Before(next.to_owned()));
        Move { rung: rung.to_owned(), to }
    }

    #[test]
    fn what_was_meant_is_put_on_top_of_another_order() {
        let rows = [
            // Nobody else was there.
            (
                &["sol", "haiku", "opus"][..],
                put("haiku", Some("sol")),
                &["haiku", "sol", "opus"][..],
            ),
            // Theirs had put opus first: haiku is still before sol.
            (&["opus", "sol", "haiku"], put("haiku", Some("sol")), &["opus", "haiku", "sol"]),
            // To the top, over a colleague's new first rung.
            (
                &["opus", "sol", "haiku"],
                Move { rung: "haiku".to_owned(), to: Place::Top },
                &["haiku", "opus", "sol"],
            ),
            // To the end.
            (&["opus", "sol", "haiku"], put("opus", None), &["sol", "haiku", "opus"]),
            // What it was put before is gone, or itself is.
            (&["opus", "haiku"], put("haiku", Some("sol")), &["opus", "haiku"]),
            (&["opus", "sol"], put("haiku", Some("sol")), &["opus", "sol"]),
        ];
        for (theirs, one, expected) in rows {
            let found = again(&names(theirs), std::slice::from_ref(&one));
            assert_eq!(found, names(expected), "{one:?}");
        }
    }
}
