//! What the shared board costs: whole walks of the policy core over one board behind its lock,
//! from one thread, and from as many as there are workers.
//!
//! A walk here is what the relay makes of a request that its first rung answers: start, first
//! token, proper end; the lock is taken for each input, as the driver takes it. A token after
//! the first one never comes near the board, so this is a cost per request.

use policy::{
    Action, Answer, AttemptId, Board, Ending, Input, LadderIndex, LadderSpec, Need, RungIndex,
    RungSpec, Time, Walk,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const RUNGS: usize = 3;
const ANSWER: Answer = Answer { content: true, refused: false, length: false, invalid: false };
/// From the dial to the first token, in the core's time.
const TTFT: Duration = Duration::from_millis(400);

/// Nanoseconds of the core and its board per request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// From one thread.
    pub(crate) alone: f64,
    /// Of each of `threads` at the same time.
    pub(crate) shared: f64,
    /// How many that were.
    pub(crate) threads: usize,
}

impl Cost {
    /// In a line.
    pub(crate) fn words(self) -> String {
        format!(
            "the policy core and its board: {:.1} µs a request from one thread, {:.1} µs from {} at once",
            self.alone / 1e3,
            self.shared / 1e3,
            self.threads
        )
    }
}

/// Measures for about `length` each.
pub(crate) fn cost(length: Duration) -> Cost {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Cost { alone: run(1, length), shared: run(threads, length), threads }
}

fn run(threads: usize, length: Duration) -> f64 {
    let rungs = (0..RUNGS).map(RungIndex).collect();
    let ladder = Arc::new(LadderSpec { rungs, ..LadderSpec::default() });
    let specs = vec![RungSpec::default(); RUNGS];
    let board = Board::new(specs, vec![Arc::clone(&ladder)], fastrand::Rng::with_seed(1));
    let board = Mutex::new(board);
    let began = ::tests::clock::now();
    let walks: u64 = std::thread::scope(|scope| {
        let work = || {
            let mut walks = 0_u64;
            let mut out = Vec::new();
            // The clock is read now and then only: it is not what is measured.
            while !walks.is_multiple_of(64) || began.elapsed() < length {
                walk(&board, &ladder, began.elapsed(), walks, &mut out);
                walks += 1;
            }
            walks
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
    });
    let spent = began.elapsed().as_secs_f64() * threads as f64;
    spent * 1e9 / walks.max(1) as f64
}

fn walk(
    board: &Mutex<Board>,
    ladder: &Arc<LadderSpec>,
    at: Duration,
    seed: u64,
    out: &mut Vec<Action>,
) {
    let now = Time::default().plus(Duration::from_secs(1000)).plus(at);
    let need = Need { stream: true, prompt_tokens: 1000, ..Need::default() };
    let rng = fastrand::Rng::with_seed(seed);
    let mut walk = Walk::new(now, LadderIndex(0), Arc::clone(ladder), need, rng);
    let first = AttemptId(1);
    let token = Input::Token { attempt: first, refusal: false };
    let end = Input::Ended(first, Ending::Proper(ANSWER));
    for (now, input) in [(now, Input::Start), (now.plus(TTFT), token), (now.plus(TTFT), end)] {
        let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
        walk.handle(now, input, &mut board, out);
        let _deadline = walk.next_deadline(&board);
    }
    out.clear();
}
