//! A simple load feedback: a rung gets slower as its calls come near its capacity.
//!
//! The factor is that of a queue in balance, 1 / (1 - load), divided by the factor at the usual
//! load. The load is a decaying rate of the calls dialled. Cancelled calls count, too, as they do
//! at providers that notice a closed connection late.

use crate::world::RUNGS;

/// The rate decays with this time constant.
const MEMORY: f64 = 10.0;
/// Up to this load a rung is as fast as usual.
const USUAL: f64 = 0.65;
/// Above this load a rung sheds or batches calls: it gets no slower than at this load.
const MOST: f64 = 0.96;

#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    calls: f64,
    at: f64,
}

/// The load of all rungs.
#[derive(Debug)]
pub(crate) struct Load {
    capacity: [f64; RUNGS],
    rates: [Rate; RUNGS],
    /// Rung one has half its capacity from the first to the second of these times.
    halved: (f64, f64),
}

impl Load {
    pub(crate) fn new(capacity: [f64; RUNGS], seconds: f64) -> Self {
        Self {
            capacity,
            rates: [Rate::default(); RUNGS],
            halved: (seconds / 3.0, seconds * 2.0 / 3.0),
        }
    }

    /// Whether rung one has lost half of its capacity.
    fn is_halved(&self, at: f64) -> bool {
        self.halved.0 <= at && at < self.halved.1
    }

    /// How many times as long a call dialled at `at` takes.
    pub(crate) fn slower(&mut self, rung: usize, at: f64) -> f64 {
        let halved = rung == 0 && self.is_halved(at);
        let (Some(rate), Some(capacity)) = (self.rates.get_mut(rung), self.capacity.get(rung))
        else {
            return 1.0;
        };
        let capacity = if halved { capacity / 2.0 } else { *capacity };
        rate.calls = rate.calls * (-(at - rate.at) / MEMORY).exp() + 1.0;
        rate.at = at;
        let load = (rate.calls / MEMORY / capacity).clamp(USUAL, MOST);
        (1.0 - USUAL) / (1.0 - load)
    }
}
