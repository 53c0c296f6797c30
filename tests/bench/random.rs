//! A small seeded generator (xorshift): the same load in every round and for every target.

/// The state; never zero.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// From a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform between half and one and a half of `mean`.
    pub(crate) fn around(&mut self, mean: u64) -> u64 {
        mean / 2 + if mean == 0 { 0 } else { self.next() % mean }
    }

    /// Exponential with this mean: the waits of a Poisson process.
    pub(crate) fn wait(&mut self, mean: f64) -> f64 {
        let uniform = ((self.next() >> 40) as f64 + 1.0) / 16_777_217.0;
        -uniform.ln() * mean
    }
}
