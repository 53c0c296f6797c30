//! What a target costs: processor time and memory of a process and its children, from `/proc`.

use crate::Res;
use std::fs;

/// The kernel counts in hundredths of a second for user space on every Linux architecture.
const TICK_US: u64 = 10_000;

/// A process and all below it (nginx does its work in a child).
fn family(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let path = format!("/proc/{pid}/task/{pid}/children");
    for child in fs::read_to_string(path).unwrap_or_default().split_whitespace() {
        if let Ok(child) = child.parse() {
            all.extend(family(child));
        }
    }
    all
}

/// User and system time so far, in microseconds, all threads and children together.
pub(crate) fn cpu_us(pid: u32) -> Res<u64> {
    let mut ticks = 0;
    for one in family(pid) {
        let stat = fs::read_to_string(format!("/proc/{one}/stat"))?;
        // The name may hold spaces and brackets: count from the last bracket on.
        let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let times = fields.split(' ').skip(11).take(2);
        ticks += times.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    }
    Ok(ticks * TICK_US)
}

/// Resident memory in KiB.
pub(crate) fn rss_kib(pid: u32) -> Res<u64> {
    let mut sum = 0;
    for one in family(pid) {
        let status = fs::read_to_string(format!("/proc/{one}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        sum += number.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(sum)
}
