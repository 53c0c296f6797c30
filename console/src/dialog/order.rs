//! Moving the rungs of an order. What is kept is what was meant, "haiku before opus", not the
//! list: so that it can be put on top of another order.

/// One rung was put before another, or at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The rung.
    pub rung: String,
    /// The one that it was put before; `None`: it is the last.
    pub before: Option<String>,
}

/// The moves once more, on another order. A rung that is not there any more is left out.
pub(super) fn again(order: &[String], moves: &[Move]) -> Vec<String> {
    let mut rungs = order.to_vec();
    for one in moves {
        let Some(from) = rungs.iter().position(|rung| *rung == one.rung) else { continue };
        let rung = rungs.remove(from);
        let before = one.before.as_ref();
        let to = before.and_then(|name| rungs.iter().position(|rung| rung == name));
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
        Move { rung: rung.to_owned(), before: before.map(str::to_owned) }
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
