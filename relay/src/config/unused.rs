//! Providers and rungs that nothing refers to: left over, or forgotten in a list.

use super::ladders::LadderConfig;
use super::providers::ProviderConfig;
use super::report::Report;
use super::rungs::RungConfig;
use super::tree::Placed;
use policy::RungIndex;

/// Warns about each one. Says nothing where a list that may name it is broken.
pub(super) fn check(
    report: &Report<'_>,
    providers: &[Placed<ProviderConfig>],
    rungs: &[Placed<RungConfig>],
    ladders: &[Placed<LadderConfig>],
) {
    let broken = ladders.is_empty()
        || ladders.iter().any(|ladder| report.failed(&ladder.at.child("rungs").key));
    for (index, rung) in rungs.iter().enumerate() {
        let used = ladders.iter().any(|ladder| ladder.it.spec.rungs.contains(&RungIndex(index)));
        if !used && !broken {
            report.warn(&rung.at, "stands on no ladder", "add it to one, or take it out");
        }
    }
    let broken = rungs.iter().any(|rung| report.failed(&rung.at.child("provider").key));
    for (index, provider) in providers.iter().enumerate() {
        let used = rungs.iter().any(|rung| rung.it.provider == index);
        if !used && !broken {
            report.warn(&provider.at, "no rung uses it", "add a rung for it, or take it out");
        }
    }
}
