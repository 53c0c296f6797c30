//! Random draws that belong to a call, not to a run.
//!
//! Every policy must meet the same world: whether request 4711 is a straggler on rung B must not
//! depend on earlier draws. So each draw comes from a generator that is seeded by what the draw is
//! about (common random numbers).

use std::f64::consts::TAU;

/// What a draw is about; it separates draws that have the same numbers.
#[derive(Debug, Clone, Copy)]
pub enum About {
    /// When a request comes.
    Arrival = 1,
    /// The length of its prompt.
    Prompt,
    /// What happens to a call.
    Call,
    /// What an oracle does.
    Coin,
    /// A walk's own randomness.
    Walk,
    /// The board's own randomness.
    Board,
    /// What kind of request it is.
    Kind,
    /// How long a model thinks.
    Thought,
}

/// Random draws about one thing.
#[derive(Debug)]
pub struct Luck(fastrand::Rng);

impl Luck {
    /// The draws about this; always the same for the same numbers.
    pub fn of(seed: u64, about: About, which: [u64; 3]) -> Self {
        Self(fastrand::Rng::with_seed(number(seed, about, which)))
    }

    /// Uniform in (0, 1].
    pub fn uniform(&mut self) -> f64 {
        1.0 - self.0.f64()
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Exponential with this mean: the gaps of a Poisson process.
    pub fn gap(&mut self, mean: f64) -> f64 {
        -self.uniform().ln() * mean
    }
}

/// One number for a stream (the finaliser of SplitMix64 over the parts).
pub fn number(seed: u64, about: About, which: [u64; 3]) -> u64 {
    let [a, b, c] = which;
    [about as u64, a, b, c].into_iter().fold(seed, |hash, part| {
        let mut z = hash.wrapping_add(part).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}
