//! A page of metrics, read as strictly as Prometheus reads it.
//!
//! The text format is small; what a scraper would stumble over fails the test
//! that read the page: a line that is none, a sample without a type, a series
//! that stands twice, a histogram whose buckets do not add up.

use std::collections::{BTreeMap, BTreeSet};

/// A page that was read without a fault.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The kind of each metric: `counter`, `gauge`, `histogram`.
    kinds: BTreeMap<String, String>,
    /// Every sample, by its series as it was written.
    samples: BTreeMap<String, f64>,
}

impl Page {
    /// Reads a page in the Prometheus text format, version 0.0.4.
    #[track_caller]
    #[must_use]
    pub fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line is not ended");
        let mut page = Self::default();
        let mut helped = BTreeSet::new();
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, text) = help.split_once(' ').expect("a help text");
                assert!(!text.trim().is_empty() && helped.insert(name.to_owned()), "{line}");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').expect("a type");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(helped.contains(name), "a type without a help text: {line}");
                let twice = page.kinds.insert(name.to_owned(), kind.to_owned());
                assert_eq!(twice, None, "{line}");
            } else {
                page.sample(line);
            }
        }
        page.check_histograms();
        page
    }

    #[track_caller]
    fn sample(&mut self, line: &str) {
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
        let name = series.split('{').next().unwrap_or_default();
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
        assert!(name.starts_with("belay_") && name.chars().all(good), "a bad name: {line}");
        labels(series).iter().for_each(|(key, _)| assert!(key.chars().all(good), "{line}"));
        let kind = self.kind(name).unwrap_or_else(|| panic!("no type: {line}"));
        match kind {
            "counter" => assert!(name.ends_with("_total") && value >= 0.0, "a counter: {line}"),
            "gauge" => assert!(!name.ends_with("_total"), "a gauge: {line}"),
            _ => assert!(value >= 0.0, "a histogram: {line}"),
        }
        let twice = self.samples.insert(series.to_owned(), value);
        assert_eq!(twice, None, "twice: {line}");
    }

    /// What kind of metric the sample `name` belongs to.
    fn kind(&self, name: &str) -> Option<&str> {
        let whole = self.kinds.get(name).map(String::as_str);
        whole.filter(|kind| *kind != "histogram").or_else(|| {
            let parts = ["_bucket", "_sum", "_count"];
            let base = parts.iter().find_map(|part| name.strip_suffix(part))?;
            self.kinds.get(base).map(String::as_str).filter(|kind| *kind == "histogram")
        })
    }

    #[track_caller]
    fn check_histograms(&self) {
        let mut last: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for (series, value) in &self.samples {
            let name = series.split('{').next().unwrap_or_default();
            let Some(base) = name.strip_suffix("_bucket") else { continue };
            let (le, others): (Vec<_>, Vec<_>) =
                labels(series).into_iter().partition(|(key, _)| key == "le");
            let bound: f64 = le[0].1.parse().unwrap_or_else(|_| panic!("no bound: {series}"));
            let others: Vec<_> =
                others.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
            let count = match others.join(",") {
                none if none.is_empty() => format!("{base}_count"),
                some => format!("{base}_count{{{some}}}"),
            };
            last.entry(count).or_default().push((bound, *value));
        }
        for (count, mut buckets) in last {
            buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(buckets.is_sorted_by_key(|bucket| bucket.1), "not cumulative: {count}");
            let (bound, all) = *buckets.last().expect("a bucket");
            assert!(bound.is_infinite(), "no last bucket: {count}");
            assert_eq!(Some(&all), self.samples.get(&count), "{count}");
        }
    }

    /// The value of a series, named as it is written on the page.
    #[track_caller]
    #[must_use]
    pub fn value(&self, series: &str) -> f64 {
        let all = || self.samples.keys().cloned().collect::<Vec<_>>().join("\n");
        *self.samples.get(series).unwrap_or_else(|| panic!("no {series} in:\n{}", all()))
    }

    /// The buckets of a histogram without labels, by their upper edges, each with all below.
    #[must_use]
    pub fn buckets(&self, name: &str) -> Vec<(f64, f64)> {
        let start = format!("{name}_bucket{{le=\"");
        let edge = |series: &str| series.strip_prefix(&start)?.strip_suffix("\"}")?.parse().ok();
        let all = self.samples();
        let mut found: Vec<(f64, f64)> =
            all.filter_map(|(series, count)| Some((edge(series)?, count))).collect();
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        found
    }

    /// Every series with its value.
    pub fn samples(&self) -> impl Iterator<Item = (&str, f64)> {
        self.samples.iter().map(|(series, value)| (series.as_str(), *value))
    }

    /// What has been counted since `earlier`, as `series +n`: every counter that rose, and
    /// how many more a histogram has seen. Nothing else has.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Vec<String> {
        let counts = |series: &str| {
            let name = series.split('{').next().unwrap_or_default();
            name.ends_with("_total") || name.ends_with("_count")
        };
        self.samples()
            .filter(|(series, _)| counts(series))
            .filter_map(|(series, value)| {
                let before = earlier.samples.get(series).copied().unwrap_or_default();
                (value > before).then(|| format!("{series} +{}", value - before))
            })
            .collect()
    }
}

/// The labels of a series.
#[track_caller]
fn labels(series: &str) -> Vec<(String, String)> {
    let Some((_, rest)) = series.split_once('{') else { return Vec::new() };
    let mut rest = rest.strip_suffix('}').unwrap_or_else(|| panic!("not closed: {series}"));
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (key, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {series}"));
        let end = after.find('"').unwrap_or_else(|| panic!("not closed: {series}"));
        // Names and words need no escapes here, so one would be a mistake.
        let value = &after[..end];
        assert!(!value.contains(['\\', '\n']), "an escape: {series}");
        found.push((key.to_owned(), value.to_owned()));
        rest = &after[end + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    found
}
