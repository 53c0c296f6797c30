//! The console's process and its window, worked by the keyboard.

use crate::cast::ME;
use crate::display::{Display, SIZE};
use crate::world::World;
use crate::{Res, beside, wait_for};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A window that is not there by then never comes.
const LONGEST: Duration = Duration::from_secs(30);

/// A hand is no faster from key to key, and what a key opens is drawn by then.
const HAND: Duration = Duration::from_millis(60);

/// The window; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    console: Child,
    display: &'a Display,
    /// What the X server calls it.
    id: u32,
    folder: TempDir,
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.console.kill();
        let _ = self.console.wait();
    }
}

impl<'a> Window<'a> {
    /// Opens it on a relay, and waits until the relay's board is on its way to it. With `frames`
    /// it writes there what each frame took.
    pub(crate) fn open(display: &'a Display, world: &World, frames: Option<&Path>) -> Res<Self> {
        let program = beside("belay-console")?;
        let folder = tempfile::tempdir()?;
        // Nobody's settings; and nobody's desktop hears of our alerts.
        let settings = folder.path().join("belay");
        std::fs::create_dir(&settings)?;
        std::fs::write(settings.join("console.json"), "{ \"desktop\": false }")?;
        let mut command = Command::new(program);
        command.args(["--connect", &world.address()]).env("BELAY_TOKEN", ME.1);
        if let Some(frames) = frames {
            command.arg("--frames").arg(frames);
        }
        let console = at(command, display)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("XDG_CONFIG_HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join(LOG))?)
            .spawn()?;
        let mut this = Self { console, display, id: 0, folder };
        this.id = wait_for("the console's window", LONGEST, || {
            this.lives()?;
            let found = this.tool(&["search", "--name", "Belay"])?;
            Ok(found.lines().last().map(str::parse).transpose()?)
        })?;
        wait_for("the console to open the feed", LONGEST, || {
            this.lives()?;
            let here = world.board()?.relay.operators;
            Ok(here.iter().any(|who| who.via.starts_with("belay")).then_some(()))
        })?;
        // Out of the way: what the pointer hovers over looks chosen.
        let (wide, high) = SIZE;
        this.tool(&["mousemove", &wide.to_string(), &high.to_string()])?;
        Ok(this)
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.console.id()
    }

    /// What the X server calls it.
    pub(crate) const fn id(&self) -> u32 {
        self.id
    }

    /// Presses these keys, one after the other.
    pub(crate) fn press(&mut self, keys: &[&str]) -> Res<()> {
        self.lives()?;
        if keys.is_empty() {
            return Ok(());
        }
        self.tool(&["windowfocus", &self.id.to_string()])?;
        for key in keys {
            self.tool(&["key", key])?;
            std::thread::sleep(HAND);
        }
        Ok(())
    }

    /// Fails if the console has ended.
    fn lives(&mut self) -> Res<()> {
        let Some(status) = self.console.try_wait()? else { return Ok(()) };
        let log = std::fs::read_to_string(self.folder.path().join(LOG)).unwrap_or_default();
        Err(format!("the console has ended ({status}): {log}").into())
    }

    /// Runs xdotool; a search that finds nothing fails, and says nothing.
    fn tool(&self, words: &[&str]) -> Res<String> {
        let mut command = Command::new("xdotool");
        command.args(words);
        let done = at(command, self.display).output();
        let done = done.map_err(|error| format!("xdotool: {error}; tests/run installs it"))?;
        Ok(String::from_utf8(done.stdout)?)
    }
}

const LOG: &str = "console.log";

/// A command on our screen and no other.
fn at(mut command: Command, display: &Display) -> Command {
    command.env("DISPLAY", &display.name).env_remove("WAYLAND_DISPLAY");
    command
}
