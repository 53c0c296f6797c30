//! The providers: well, sick or dead, as the storm has it.

use fastrand::Rng;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tests::clock::ms;
use tests::provider::{Call, Framing};
use tests::{Provider, Reply, Setup, openai};

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

const MOODS: [Mood; 3] = [Mood::Well, Mood::Sick, Mood::Dead];

/// The providers and their moods.
#[derive(Debug)]
pub struct World {
    providers: Vec<Provider>,
    moods: Vec<Arc<AtomicUsize>>,
}

impl World {
    /// Three of them, well.
    pub async fn new(seed: u64) -> Self {
        let mut world = Self { providers: Vec::new(), moods: Vec::new() };
        for number in 0..3_u64 {
            let mood = Arc::new(AtomicUsize::new(0));
            let own = Arc::clone(&mood);
            let script = move |call: &Call| {
                let mut rng = Rng::with_seed(seed ^ (number << 48) ^ call.n as u64);
                let mood = MOODS[own.load(Ordering::Relaxed)];
                reply(&mut rng, mood, call)
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
        let [a, b, c] = [0, 1, 2].map(|at: usize| &self.providers[at]);
        // By its name, so that a resolver that hangs is felt.
        let a = format!("http://localhost:{}/v1", a.address().port());
        let mut setup = Setup::default().and_rung(&a).and_rung(&b.base_url());
        if all {
            setup = setup.and_rung(&c.base_url());
        }
        setup
            .clocks("ttft = \"1s\", inter_token = \"1s\", total = \"6s\"")
            .server("max_body = \"1MiB\"\nclient_write_timeout = \"2s\"")
            .env("BELAY_LOG", "info")
    }
}

fn reply(rng: &mut Rng, mood: Mood, call: &Call) -> Reply {
    let bad_in_100 = match mood {
        Mood::Well => 3,
        Mood::Sick => 50,
        Mood::Dead => 100,
    };
    if rng.u8(..100) < bad_in_100 { bad(rng) } else { good(rng, call) }
}

fn good(rng: &mut Rng, call: &Call) -> Reply {
    let streams = call.json()["stream"] == true;
    let words = rng.usize(0..12);
    if !streams {
        let text = format!("{}{END}", "word ".repeat(words));
        return Reply::json(
            200,
            &json!({"id": "c-1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop",
                    "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 3, "completion_tokens": words + 1, "total_tokens": words + 4}}),
        );
    }
    let pause = ms(rng.u64(0..15));
    let said: Vec<&str> = (0..words).map(|_| "word ").collect();
    let reply = Reply::stream().send(openai::role()).words(&said, pause).send(openai::text(END));
    let reply = reply.stop();
    // Some close their connection, so that names are looked up again.
    if rng.u8(..4) == 0 { reply.framed(Framing::Connection) } else { reply }
}

/// One of many ways to fail.
fn bad(rng: &mut Rng) -> Reply {
    let begins = || Reply::begins("word ").words(&["word ", "word "], ms(5));
    match rng.u8(..16) {
        0 => Reply::silent(),
        1 => Reply::closed(),
        2 => Reply::reset_at_once(),
        3 => Reply::error(500, "broken", "server_error", &json!(null)),
        4 => Reply::error(429, "slow down", "rate_limit", &json!(null)).header("retry-after", "1"),
        5 => Reply::error(503, "busy", "server_error", &json!(null)),
        6 => Reply::body(200, "text/html", "<html>a login page</html>"),
        7 => Reply::sse(openai::DONE),
        8 => begins().cut(),
        9 => begins().reset(),
        10 => begins().hold(),
        11 => Reply::begins("aborted ").send(openai::finish("abort")).send(openai::DONE),
        12 => begins().send(openai::error_event("broken", "server_error", &json!(null))),
        13 => Reply::text(&format!("late {END}")).after(Duration::from_millis(rng.u64(500..3000))),
        14 => Reply::stream().send("data: {\"choices\":[{\"delta\":{\"content\":\"x\"").cut(),
        _ => Reply::body(200, "application/json", "{\"choices\":"),
    }
}
