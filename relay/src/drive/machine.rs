//! What the system knows of the process and its disk.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The last that was read; zero: unknown.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    rss: AtomicU64,
    disk_free: AtomicU64,
    reading: AtomicUsize,
}

/// How many read at the same time: each takes a thread, and a disk that hangs keeps it.
const READERS: usize = 8;

impl Machine {
    /// Does `work`, which may block on a sick disk, unless too many are at it already.
    pub(crate) fn read(&self, work: impl FnOnce()) {
        if self.reading.fetch_add(1, Ordering::Relaxed) < READERS {
            work();
        }
        self.reading.fetch_sub(1, Ordering::Relaxed);
    }

    /// Reads it; may block on a sick disk.
    pub(crate) fn measure(&self, journal: &Path) {
        let rss = std::fs::read_to_string("/proc/self/status").ok();
        let rss = rss.and_then(|status| resident(&status)).unwrap_or(0);
        self.rss.store(rss, Ordering::Relaxed);
        let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty());
        let found = rustix::fs::statvfs(folder.unwrap_or(Path::new(".")));
        let free = found.map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        self.disk_free.store(free, Ordering::Relaxed);
    }

    /// Resident bytes.
    pub(crate) fn rss(&self) -> Option<u64> {
        Some(self.rss.load(Ordering::Relaxed)).filter(|rss| *rss > 0)
    }

    /// Bytes that the journal's disk has left.
    pub(crate) fn disk_free(&self) -> Option<u64> {
        Some(self.disk_free.load(Ordering::Relaxed)).filter(|free| *free > 0)
    }
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_resident_somewhere() {
        let machine = Machine::default();
        assert_eq!((machine.rss(), machine.disk_free()), (None, None));
        machine.measure(Path::new("journal.db"));
        assert!(machine.rss().is_some_and(|rss| rss > 1 << 20), "{machine:?}");
        assert!(machine.disk_free().is_some());
        assert_eq!(resident("Name: x\nVmRSS:\t   12 kB\n"), Some(12 * 1024));
        assert_eq!(resident("VmRSS: many"), None);
    }
}
