//! An engineer at a terminal: runs the relay's program against running relays, and reads
//! what it prints.
//!
//! Whatever a command prints, no provider's key and no token may be in it: that is looked
//! at each time.

use crate::clock;
use crate::relay::{Relay, program};
use crate::setup::KEY;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;

/// Someone who calls these relays.
#[derive(Debug, Clone, Default)]
pub struct Engineer {
    relays: Vec<String>,
    token: Option<String>,
    token_file: Option<String>,
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone)]
pub struct Said {
    /// What was run.
    pub command: String,
    /// Its exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The admin address of a relay, as `--relay` takes it.
#[must_use]
pub fn url(relay: &Relay) -> String {
    format!("http://{}", relay.admin())
}

impl Engineer {
    /// Who calls these relays.
    #[must_use]
    pub fn at(relays: &[&Relay]) -> Self {
        Self::at_urls(&relays.iter().map(|relay| url(relay)).collect::<Vec<_>>())
    }

    /// Who calls relays at these addresses.
    #[must_use]
    pub fn at_urls(urls: &[String]) -> Self {
        Self { relays: urls.to_vec(), ..Self::default() }
    }

    /// With this token in `BELAY_TOKEN`.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// With the token in this file.
    #[must_use]
    pub fn with_token_file(mut self, file: &Path) -> Self {
        self.token_file = Some(file.to_str().unwrap().to_owned());
        self
    }

    fn arguments<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        let relays = self.relays.iter().flat_map(|url| ["--relay", url]);
        let file = self.token_file.iter().flat_map(|file| ["--token-file", file]);
        words.iter().copied().chain(relays).chain(file).collect()
    }

    /// Runs `belay` with these words, with nobody at a terminal.
    pub async fn runs(&self, words: &[&str]) -> Said {
        let mut command = Command::new(program());
        command.args(self.arguments(words));
        self.start(words, command).ended().await
    }

    /// Starts it on a terminal of so many columns, for somebody who will be asked. All that
    /// it says then stands on that terminal.
    #[must_use]
    pub fn sits_down(&self, columns: u16, words: &[&str]) -> Session {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
        let program = program();
        let all = std::iter::once(program.to_str().unwrap()).chain(self.arguments(words));
        let line = all.map(quoted).collect::<Vec<_>>().join(" ");
        let line = format!("stty cols {columns} rows 50 -echo; exec {line}");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env("NO_COLOR", "1");
        self.start(words, command)
    }

    fn start(&self, words: &[&str], mut command: Command) -> Session {
        for variable in ["BELAY_RELAY", "BELAY_TOKEN"] {
            command.env_remove(variable);
        }
        if let Some(token) = &self.token {
            command.env("BELAY_TOKEN", token);
        }
        // Signs are looked for as they are where UTF-8 can be shown.
        command.env("LC_ALL", "C.UTF-8");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("the program starts");
        let (out, err) = (Arc::default(), Arc::default());
        let reading = [
            tokio::spawn(keep(child.stdout.take().unwrap(), Arc::clone(&out))),
            tokio::spawn(keep(child.stderr.take().unwrap(), Arc::clone(&err))),
        ];
        Session {
            command: format!("belay {}", words.join(" ")),
            stdin: child.stdin.take(),
            child,
            out,
            err,
            reading,
            token: self.token.clone(),
        }
    }
}

type Text = Arc<Mutex<Vec<u8>>>;

async fn keep(mut stream: impl AsyncRead + Unpin, text: Text) {
    let mut some = [0; 4096];
    // A terminal whose program has ended reads as an error.
    while let Ok(read @ 1..) = stream.read(&mut some).await {
        text.lock().unwrap().extend_from_slice(&some[..read]);
    }
}

/// A command under way.
#[derive(Debug)]
pub struct Session {
    command: String,
    child: Child,
    stdin: Option<ChildStdin>,
    out: Text,
    err: Text,
    reading: [JoinHandle<()>; 2],
    token: Option<String>,
}

impl Session {
    /// Waits until this stands there.
    pub async fn until(&self, words: &str) {
        let so_far = || String::from_utf8_lossy(&self.out.lock().unwrap()).into_owned();
        clock::eventually(&format!("'{words}' of {}", self.command), async || {
            flat(&so_far()).contains(words).then_some(())
        })
        .await;
    }

    /// Types this.
    pub async fn types(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("still at the terminal");
        stdin.write_all(text.as_bytes()).await.expect("it still reads");
    }

    /// Types nothing more, and waits for its end.
    #[expect(clippy::print_stdout, reason = "shown where a test fails: what was read first")]
    pub async fn ended(mut self) -> Said {
        self.stdin = None;
        let status = clock::within("a command to end", self.child.wait()).await.unwrap();
        for reading in self.reading {
            clock::within("its last words", reading).await.unwrap();
        }
        let text =
            |text: &Text| String::from_utf8(text.lock().unwrap().clone()).expect("it prints UTF-8");
        let said = Said {
            command: self.command,
            code: status.code().expect("it ends by itself"),
            out: text(&self.out),
            err: text(&self.err),
        };
        println!("$ {}\n{}{}[{}]\n", said.command, said.err, said.out, said.code);
        for secret in [Some(KEY), self.token.as_deref()].into_iter().flatten() {
            said.lacks(secret);
        }
        said.lacks("panicked");
        said
    }
}

/// All of it on one line, with one space between two words: texts are wrapped anywhere.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Said {
    /// Fails unless it ended with this code.
    #[track_caller]
    pub fn ends(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Whether this stands on standard output.
    #[must_use]
    pub fn holds(&self, words: &str) -> bool {
        flat(&self.out).contains(words)
    }

    /// Fails unless this stands on standard output.
    #[track_caller]
    pub fn shows(&self, words: &str) -> &Self {
        assert!(self.holds(words), "'{words}' in {self:#?}");
        self
    }

    /// Fails unless this stands on standard error.
    #[track_caller]
    pub fn tells(&self, words: &str) -> &Self {
        assert!(flat(&self.err).contains(words), "'{words}' in {self:#?}");
        self
    }

    /// Fails if this stands anywhere in it.
    #[track_caller]
    pub fn lacks(&self, words: &str) -> &Self {
        let all = flat(&self.err) + " " + &flat(&self.out);
        assert!(!all.contains(words), "no '{words}' in {self:#?}");
        self
    }

    /// The lines of standard output.
    pub fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }

    /// The word of the form `act_…` that it printed: the id of what was done.
    #[track_caller]
    #[must_use]
    pub fn action(&self) -> String {
        let all = flat(&self.err) + " " + &flat(&self.out);
        let found = all.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let found = found.into_iter().find(|word| word.starts_with("act_"));
        found.unwrap_or_else(|| panic!("an action's id in {self:#?}")).to_owned()
    }
}
