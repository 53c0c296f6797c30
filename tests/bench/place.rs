//! Where everything runs: files enough for thousands of sockets, and a core for the target alone.
//!
//! A process cannot raise its own limits or pin itself without unsafe code, so the bench starts
//! itself again through `sh` and `taskset`.

use crate::Res;
use std::fs;
use std::path::Path;
use std::process::Command;

const INNER: &str = "BELAY_BENCH_INNER";
/// Sockets of both ends of 2,000 streams on both sides, with room.
const FILES: u32 = 16_384;

/// The cores in use.
#[derive(Debug)]
pub(crate) struct Place {
    /// The target's core; `None` where nothing can be pinned.
    pub(crate) target: Option<usize>,
    /// The cores that this process may use.
    cores: Vec<usize>,
}

impl Place {
    /// Looks around.
    pub(crate) fn find() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let cores = cores(std::env::var(INNER).ok().as_deref().or(list).unwrap_or_default());
        let taskset = Command::new("taskset").arg("--version").output();
        let can_pin = cores.len() > 1 && taskset.is_ok_and(|output| output.status.success());
        Self { target: cores.last().copied().filter(|_| can_pin), cores }
    }

    /// Whether this is the process that was started by hand.
    pub(crate) fn is_outer(&self) -> bool {
        std::env::var_os(INNER).is_none()
    }

    /// Starts this program again, with its own core and files, and gives its exit code; `None` in
    /// the one that was started so. That one need not look for the relay again.
    pub(crate) fn settle(&self, belay: &Path) -> Res<Option<i32>> {
        if !self.is_outer() {
            return Ok(None);
        }
        let script =
            format!("ulimit -n {FILES} 2>/dev/null || ulimit -n \"$(ulimit -Hn)\"; exec \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]);
        if let Some(target) = self.target {
            let rest: Vec<_> = self.cores.iter().filter(|core| **core != target).collect();
            command.args(["taskset", "-c", &list(&rest)]);
        }
        command.arg(std::env::current_exe()?).args(std::env::args_os().skip(1));
        let all: Vec<_> = self.cores.iter().collect();
        let status = command.env(INNER, list(&all)).env("BELAY_BIN", belay).status()?;
        Ok(Some(status.code().unwrap_or(1)))
    }

    /// A command on the target's core.
    pub(crate) fn on_target_core(&self, program: &Path) -> Command {
        match self.target {
            None => Command::new(program),
            Some(core) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &core.to_string()]).arg(program);
                command
            }
        }
    }

    /// How many cores this process was given at first.
    pub(crate) fn count(&self) -> usize {
        self.cores.len()
    }

    /// How many files it may open.
    pub(crate) fn files() -> u64 {
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        let soft = line.and_then(|line| line.split_whitespace().next());
        soft.and_then(|soft| soft.parse().ok()).unwrap_or(u64::MAX)
    }
}

fn list(cores: &[&usize]) -> String {
    cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Reads `0-2,5`.
fn cores(text: &str) -> Vec<usize> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<usize>(), to.parse::<usize>()) {
            all.extend(from..=to);
        }
    }
    all
}
