//! The providers: well, sick or dead, as the storm has it.

use super::speech::{self, Speech};
use fastrand::Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tests::clock::ms;
use tests::provider::{Call, Framing};
use tests::{Provider, Reply, Setup};

/// The last word of every whole answer, and of no other.
pub const END: &str = "END.";

/// How a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// Nearly every answer is good.
    Well,
    /// Every second one is not.
    Sick,
    /// None is.
    Dead,
}

/// The rungs, in the config's order.
pub const RUNGS: [&str; 4] = ["a", "b", "c", "d"];

const MOODS: [Mood; 3] = [Mood::Well, Mood::Sick, Mood::Dead];

/// The providers and their moods.
#[derive(Debug)]
pub struct World {
    providers: Vec<Provider>,
    moods: Vec<Arc<AtomicUsize>>,
}

impl World {
    /// One of each dialect, well.
    pub async fn new(seed: u64) -> Self {
        let mut world = Self { providers: Vec::new(), moods: Vec::new() };
        for (number, speech) in (0_u64..).zip(&speech::ALL) {
            let mood = Arc::new(AtomicUsize::new(0));
            let own = Arc::clone(&mood);
            let script = move |call: &Call| {
                let mut rng = Rng::with_seed(seed ^ (number << 48) ^ call.n as u64);
                let mood = MOODS[own.load(Ordering::Relaxed)];
                reply(&mut rng, mood, speech)
            };
            world.providers.push(Provider::scripted(script).await);
            world.moods.push(mood);
        }
        world
    }

    /// From now on this provider is so.
    pub fn set(&self, provider: usize, mood: Mood) {
        let place = MOODS.iter().position(|one| *one == mood).unwrap_or_default();
        self.moods[provider].store(place, Ordering::Relaxed);
    }

    /// All are well again.
    pub fn heal(&self) {
        (0..self.moods.len()).for_each(|provider| self.set(provider, Mood::Well));
    }

    /// The relay's config; without `all`, one rung is missing.
    pub fn setup(&self, all: bool) -> Setup {
        let count = self.providers.len() - usize::from(!all);
        let rungs = RUNGS.iter().zip(&self.providers).zip(&speech::ALL).take(count);
        rungs
            .fold(Setup::default(), |setup, ((name, provider), speech)| {
                // By its name, so that a resolver that hangs is felt.
                let url = match *name {
                    "a" => format!("http://localhost:{}/v1", provider.address().port()),
                    _ => provider.base_url(),
                };
                setup.and_rung(&url).dialect(name, speech.dialect)
            })
            .clocks("ttft = \"1s\", inter_token = \"1s\", total = \"6s\"")
            .server("max_body = \"1MiB\"\nclient_write_timeout = \"2s\"")
            .env("BELAY_LOG", "info")
    }
}

fn reply(rng: &mut Rng, mood: Mood, speech: &Speech) -> Reply {
    let bad_in_100 = match mood {
        Mood::Well => 3,
        Mood::Sick => 50,
        Mood::Dead => 100,
    };
    if rng.u8(..100) < bad_in_100 { bad(rng, speech) } else { good(rng, speech) }
}

fn good(rng: &mut Rng, speech: &Speech) -> Reply {
    let (words, pause) = (rng.usize(0..12), ms(rng.u64(0..15)));
    let reply = begins(speech, words, pause).send((speech.text)(END)).send((speech.stop)());
    // Some close their connection, so that names are looked up again.
    if rng.u8(..4) == 0 { reply.framed(Framing::Connection) } else { reply }
}

/// The start of an answer.
fn begins(speech: &Speech, words: usize, pause: Duration) -> Reply {
    let reply = Reply::stream().send((speech.begin)());
    (0..words).fold(reply, |reply, _| reply.pause(pause).send((speech.text)("word ")))
}

/// One of many ways to fail.
fn bad(rng: &mut Rng, speech: &Speech) -> Reply {
    let begins = || begins(speech, 3, ms(5));
    match rng.u8(..17) {
        0 => Reply::silent(),
        1 => Reply::closed(),
        2 => Reply::reset_at_once(),
        3 => Reply::error(500, "broken", "server_error", &json!(null)),
        4 => Reply::error(429, "slow down", "rate_limit", &json!(null)).header("retry-after", "1"),
        5 => Reply::error(503, "busy", "server_error", &json!(null)),
        6 => Reply::body(200, "text/html", "<html>a login page</html>"),
        7 => Reply::sse((speech.bare)()),
        8 => begins().cut(),
        9 => begins().reset(),
        10 => begins().hold(),
        11 => begins().send((speech.aborted)()),
        12 => begins().send((speech.error)()),
        13 => {
            let late = [(speech.begin)(), (speech.text)(END), (speech.stop)()].concat();
            Reply::sse(late).after(ms(rng.u64(500..3000)))
        }
        14 => Reply::stream().send(speech.half).cut(),
        15 => begins().send(speech.half).framed(Framing::Connection),
        _ => Reply::json(200, &Value::Null),
    }
}
