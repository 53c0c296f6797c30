//! Rows of several relays as one list. A row is shown only when no relay can still have one
//! that belongs before it.

use super::filter::Sort;
use shared::UnixMillis;
use shared::admin::{RequestPage, RequestRow, Series};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A list that is followed has so many rows at the most.
const FOLLOWED: usize = 2_000;

/// What came.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// All rows, in order.
    all: Vec<(usize, RequestRow)>,
    /// How many of them are certain.
    certain: usize,
    /// Relays that have more, and where theirs goes on.
    pub next: BTreeMap<usize, String>,
    /// Relays that were asked and have not answered.
    pub waits_for: BTreeSet<usize>,
    /// Those that were asked for their next page.
    asking: BTreeSet<usize>,
    /// What could not be read, by relay.
    pub failed: BTreeMap<usize, String>,
    /// By relay: rows that came after the list was frozen; of 200 it may be more.
    newer: BTreeMap<usize, usize>,
    /// By relay: the moment of its newest row.
    newest: BTreeMap<usize, UnixMillis>,
}

/// The greatest first; those without a value last; then the newest.
fn key(sort: Sort, row: &RequestRow) -> (Reverse<Option<i64>>, Reverse<shared::RequestId>) {
    let whole = |ms: Option<u64>| ms.and_then(|ms| i64::try_from(ms).ok());
    let value = match sort {
        Sort::At => Some(row.at.0),
        #[expect(clippy::cast_possible_truncation, reason = "nano-dollars of a request are few")]
        Sort::Cost => row.cost_usd.map(|usd| (usd * 1e9) as i64),
        Sort::Ttft => whole(row.ttft_ms),
        Sort::Total => whole(row.latency_ms),
        Sort::Attempts => Some(i64::from(row.attempts_made)),
    };
    (Reverse(value), Reverse(row.id))
}

impl Rows {
    /// Nothing yet, of these relays.
    #[must_use]
    pub fn loading(relays: &[usize]) -> Self {
        Self { waits_for: relays.iter().copied().collect(), ..Self::default() }
    }

    /// Those that are certain.
    #[must_use]
    pub fn shown(&self) -> &[(usize, RequestRow)] {
        self.all.get(..self.certain).unwrap_or_default()
    }

    /// Rows that came after the list was frozen.
    #[must_use]
    pub fn newer(&self) -> usize {
        self.newer.values().sum()
    }

    /// The relays that have a next page and were not asked for it, with where it begins: now
    /// they are.
    pub fn ask_next(&mut self) -> Vec<(usize, String)> {
        let is_free = |(relay, _): &(&usize, &String)| !self.asking.contains(relay);
        let next = self.next.iter().filter(is_free);
        let next: Vec<_> = next.map(|(relay, next)| (*relay, next.clone())).collect();
        self.asking.extend(next.iter().map(|(relay, _)| *relay));
        next
    }

    /// Another page of a relay.
    pub fn add(&mut self, relay: usize, page: RequestPage, sort: Sort) {
        self.waits_for.remove(&relay);
        self.asking.remove(&relay);
        self.failed.remove(&relay);
        self.next.remove(&relay);
        self.next.extend(page.next.map(|next| (relay, next)));
        self.all.extend(page.items.into_iter().map(|row| (relay, row)));
        self.settle(sort);
    }

    /// A relay's answer did not come.
    pub fn lose(&mut self, relay: usize, why: String, sort: Sort) {
        self.waits_for.remove(&relay);
        // Where it goes on is still known.
        self.asking.remove(&relay);
        self.failed.insert(relay, why);
        self.settle(sort);
    }

    /// Rows that came later, put in front; a row that is there already is replaced, as it may
    /// have ended since. Where so many came that some between were left out, the older ones of
    /// this relay go: the list has no holes, and goes on behind what has come.
    pub fn refresh(&mut self, relay: usize, page: RequestPage, sort: Sort) {
        let newest = self.newest(relay);
        let oldest = page.items.iter().map(|row| row.at).min();
        if page.next.is_some() && newest.is_some() && oldest > newest {
            self.all.retain(|(of, _)| *of != relay);
            self.next.extend(page.next.clone().map(|next| (relay, next)));
        }
        for row in page.items {
            match self.all.iter_mut().find(|(of, known)| *of == relay && known.id == row.id) {
                Some((_, known)) => *known = row,
                None => self.all.push((relay, row)),
            }
        }
        self.settle(sort);
        if self.all.len() > FOLLOWED {
            self.all.truncate(FOLLOWED / 2);
            // Where theirs goes on is beyond what was let go.
            self.next.clear();
            self.settle(sort);
        }
    }

    /// Rows that came later, but not to be put in front: those that are there are renewed, and
    /// the others counted.
    pub fn renew(&mut self, relay: usize, page: RequestPage) {
        let mut newer = 0;
        for row in page.items {
            match self.all.iter_mut().find(|(of, known)| *of == relay && known.id == row.id) {
                Some((_, known)) => *known = row,
                None => newer += 1,
            }
        }
        self.newer.insert(relay, newer);
    }

    /// The moment of the newest row of this relay, be it let go by now or not.
    #[must_use]
    pub fn newest(&self, relay: usize) -> Option<UnixMillis> {
        self.newest.get(&relay).copied()
    }

    fn settle(&mut self, sort: Sort) {
        for (relay, row) in &self.all {
            let newest = self.newest.entry(*relay).or_insert(row.at);
            *newest = row.at.max(*newest);
        }
        self.all.sort_by_key(|(_, row)| key(sort, row));
        // The last row of a relay that has more is as far as is known of it.
        let last = |relay: &usize| {
            let rows = self.all.iter().filter(|(of, _)| of == relay);
            rows.map(|(_, row)| key(sort, row)).max()
        };
        let edge = self.next.keys().filter_map(last).min();
        self.certain = match edge {
            _ if !self.waits_for.is_empty() => 0,
            None => self.all.len(),
            Some(edge) => self.all.partition_point(|(_, row)| key(sort, row) <= edge),
        };
    }
}

/// Attempts that went wrong in the same way on the same rung.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The rung.
    pub rung: String,
    /// How they ended, or `slow`.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// What went wrong in the window, the commonest first.
pub(super) fn groups<'a>(all: impl Iterator<Item = &'a Series>) -> Vec<Group> {
    let quiet = ["ok", "refused", "cancelled"];
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    for curve in all.flat_map(|series| &series.curves) {
        for point in &curve.points {
            for (outcome, count) in &point.outcomes {
                if !quiet.contains(&outcome.as_str()) {
                    *sums.entry((curve.name.clone(), outcome.clone())).or_default() += count;
                }
            }
            if point.slow > 0 {
                *sums.entry((curve.name.clone(), "slow".to_owned())).or_default() += point.slow;
            }
        }
    }
    let group = |((rung, what), count)| Group { rung, what, count };
    let mut groups: Vec<Group> = sums.into_iter().map(group).collect();
    groups.sort_by_key(|group| Reverse(group.count));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::admin::past::{Point, SeriesCurve};
    use shared::admin::sample::{self, NIGHT, before};

    fn row(seconds: i64, number: u64) -> RequestRow {
        sample::request(shared::RequestId::from_number(number), before(seconds))
    }

    fn page(rows: &[(i64, u64)], next: Option<&str>) -> RequestPage {
        let items = rows.iter().map(|(seconds, number)| row(*seconds, *number)).collect();
        RequestPage { items, next: next.map(str::to_owned) }
    }

    fn shown(rows: &Rows) -> Vec<usize> {
        rows.shown().iter().map(|(relay, _)| *relay).collect()
    }

    #[test]
    fn a_row_is_shown_when_nobody_can_have_one_before_it() {
        let mut rows = Rows::loading(&[0, 1]);
        rows.add(0, page(&[(1, 9), (3, 8)], Some("more")), Sort::At);
        assert!(shown(&rows).is_empty(), "the other may have newer ones");
        rows.add(1, page(&[(2, 7), (4, 6), (5, 5)], None), Sort::At);
        assert_eq!(shown(&rows), [0, 1, 0], "what is after 3 s may still come from the first");
        rows.add(0, page(&[(6, 4)], None), Sort::At);
        assert_eq!(shown(&rows), [0, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn a_relay_that_does_not_answer_hides_nothing() {
        let mut rows = Rows::loading(&[0, 1]);
        rows.add(0, page(&[(1, 9)], None), Sort::At);
        rows.lose(1, "connection refused".to_owned(), Sort::At);
        assert_eq!(shown(&rows), [0]);
        assert_eq!(rows.failed[&1], "connection refused");
    }

    #[test]
    fn what_comes_later_stands_in_front_once() {
        let mut rows = Rows::loading(&[0]);
        rows.add(0, page(&[(5, 1)], None), Sort::At);
        assert_eq!(rows.newest(0), Some(before(5)));
        rows.refresh(0, page(&[(1, 2), (5, 1)], None), Sort::At);
        let ids: Vec<_> = rows.shown().iter().map(|(_, row)| row.id.number()).collect();
        assert_eq!(ids, [2, 1]);
    }

    #[test]
    fn rows_without_a_value_are_last() {
        let mut rows = Rows::loading(&[0]);
        let mut found = page(&[(1, 1), (2, 2), (3, 3)], None);
        found.items[0].ttft_ms = None;
        found.items[1].ttft_ms = Some(5);
        found.items[2].ttft_ms = Some(900);
        rows.add(0, found, Sort::Ttft);
        let ids: Vec<_> = rows.shown().iter().map(|(_, row)| row.id.number()).collect();
        assert_eq!(ids, [3, 2, 1]);
    }

    #[test]
    fn groups_are_of_all_relays_and_the_commonest_comes_first() {
        let series = |slow: u64, timeouts: u64| Series {
            since: before(60),
            until: NIGHT,
            step_ms: 60_000,
            curves: vec![SeriesCurve {
                name: "sol".to_owned(),
                points: vec![Point {
                    slow,
                    outcomes: [("ok".to_owned(), 99), ("ttft_timeout".to_owned(), timeouts)].into(),
                    ..Point::default()
                }],
            }],
        };
        let found = groups([series(3, 2), series(4, 1)].iter());
        let words: Vec<String> =
            found.iter().map(|g| format!("{} {} {}", g.rung, g.what, g.count)).collect();
        assert_eq!(words, ["sol slow 7", "sol ttft_timeout 3"]);
    }

    #[test]
    fn a_list_that_is_followed_has_no_holes() {
        let mut rows = Rows::loading(&[0, 1]);
        rows.add(0, page(&[(50, 1)], None), Sort::At);
        rows.add(1, page(&[(60, 2)], None), Sort::At);
        rows.refresh(0, page(&[(2, 9), (50, 1)], Some("more")), Sort::At);
        assert_eq!(shown(&rows), [0, 0, 1], "they meet");
        // Of what was between 3 and 50 s nothing has come: it is behind the newer ones.
        rows.refresh(0, page(&[(-7, 12), (-6, 11)], Some("behind")), Sort::At);
        assert_eq!(shown(&rows), [0, 0], "and nothing that may be before it");
        assert_eq!(rows.ask_next(), [(0, "behind".to_owned())]);
    }

    #[test]
    fn a_page_that_failed_can_be_asked_for_again_and_none_is_twice() {
        let mut rows = Rows::loading(&[0]);
        rows.add(0, page(&[(1, 9)], Some("more")), Sort::At);
        assert_eq!(rows.ask_next(), [(0, "more".to_owned())]);
        assert_eq!(rows.ask_next(), [], "it is on its way");
        rows.lose(0, "connection refused".to_owned(), Sort::At);
        assert_eq!(rows.ask_next(), [(0, "more".to_owned())]);
    }

    #[test]
    fn a_list_that_is_followed_does_not_grow_for_ever() {
        let mut rows = Rows::loading(&[0]);
        rows.add(0, page(&[(9_000, 1)], Some("more")), Sort::At);
        for number in 2..=u64::try_from(FOLLOWED).unwrap() + 2 {
            let age = 9_000 - i64::try_from(number).unwrap();
            rows.refresh(0, page(&[(age, number)], None), Sort::At);
        }
        assert!(rows.shown().len() <= FOLLOWED, "{}", rows.shown().len());
        let newest = rows.shown()[0].1.id.number();
        assert_eq!(newest, i64::try_from(FOLLOWED).unwrap() + 2, "the newest are kept");
        assert!(rows.next.is_empty(), "no hole behind them");
    }

    #[test]
    fn what_came_since_is_counted_over_all_relays() {
        let mut rows = Rows::loading(&[0, 1]);
        rows.add(0, page(&[(9, 1)], None), Sort::At);
        rows.add(1, page(&[(8, 2)], None), Sort::At);
        rows.renew(0, page(&[(1, 5), (2, 4), (9, 1)], None));
        rows.renew(1, page(&[(1, 6), (8, 2)], None));
        assert_eq!(rows.newer(), 3);
        assert_eq!(rows.shown().len(), 2, "the list stands");
    }
}
