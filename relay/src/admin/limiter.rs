//! Counts wrong tokens for each address. After too many, a wrong token from that address gets a
//! 429. A correct token is always accepted: tokens are too long to guess, and several callers may
//! share an address.
//!
//! A console that is set up wrongly tries every few seconds, and must not lock out
//! whoever shares its address, such as the end of a tunnel; so a few are free.

use parking_lot::Mutex;
use policy::Time;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

/// Wrong tokens within [`WINDOW`] before an address has to wait.
const FREE: u32 = 20;
/// How long a wrong token counts, and so the longest wait.
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are remembered. With more the oldest is forgotten.
const ADDRESSES: usize = 1024;

/// Who has sent wrong tokens lately.
#[derive(Debug, Default)]
pub(super) struct Limiter(Mutex<HashMap<Option<IpAddr>, (Time, u32)>>);

impl Limiter {
    /// How long this address has to wait before its next try.
    pub(super) fn must_wait(&self, address: Option<IpAddr>, now: Time) -> Option<Duration> {
        let failed = self.0.lock();
        let (since, count) = *failed.get(&address)?;
        let left = since.plus(WINDOW).since(now);
        (count >= FREE && !left.is_zero()).then_some(left)
    }

    /// A wrong token came from it.
    pub(super) fn note(&self, address: Option<IpAddr>, now: Time) {
        let mut failed = self.0.lock();
        if failed.len() >= ADDRESSES && !failed.contains_key(&address) {
            let oldest = failed.iter().min_by_key(|(_, (since, _))| *since);
            if let Some(oldest) = oldest.map(|(address, _)| *address) {
                failed.remove(&oldest);
            }
        }
        let (since, count) = failed.entry(address).or_insert((now, 0));
        if now.since(*since) >= WINDOW {
            (*since, *count) = (now, 0);
        }
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(last: u8) -> Option<IpAddr> {
        Some(Ipv4Addr::new(10, 0, 0, last).into())
    }

    #[test]
    fn who_guesses_waits_and_nobody_else_does() {
        let limiter = Limiter::default();
        let now = Time::default().plus(Duration::from_secs(1000));
        for _ in 0..FREE {
            assert_eq!(limiter.must_wait(address(1), now), None);
            limiter.note(address(1), now);
        }
        assert_eq!(limiter.must_wait(address(1), now), Some(WINDOW));
        assert_eq!(limiter.must_wait(address(2), now), None);
        assert_eq!(limiter.must_wait(address(1), now.plus(WINDOW)), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let limiter = Limiter::default();
        let now = Time::default();
        for number in 0..5000_u32 {
            limiter.note(Some(Ipv4Addr::from(number).into()), now.plus(WINDOW * number));
        }
        assert_eq!(limiter.0.lock().len(), ADDRESSES);
    }
}
