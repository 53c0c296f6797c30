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
    /// So many keys were pressed.
    pub(crate) pressed: usize,
    /// So many clicks were made, a drag as one.
    pub(crate) clicked: usize,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Button {
    /// The usual one.
    Left = 1,
    /// The one for menus.
    Right = 3,
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
        match frames {
            Some(frames) => command.arg("--frames").arg(frames),
            // It costs: never where frames are measured.
            None => command.arg("--widgets").arg(folder.path().join(WIDGETS)),
        };
        let console = at(command, display)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("XDG_CONFIG_HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join(LOG))?)
            .spawn()?;
        let mut this = Self { console, display, id: 0, folder, pressed: 0, clicked: 0 };
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
        self.pressed += keys.len();
        Ok(())
    }

    /// Presses these keys without a pause.
    pub(crate) fn hit(&mut self, keys: &[&str]) -> Res<()> {
        self.lives()?;
        self.pressed += keys.len();
        self.tool(&[&["key", "--delay", "0"], keys].concat())?;
        std::thread::sleep(HAND);
        Ok(())
    }

    /// Writes a text, letter by letter.
    pub(crate) fn write(&mut self, text: &str) -> Res<()> {
        self.lives()?;
        self.pressed += text.chars().count();
        self.tool(&["type", "--delay", "30", text])?;
        std::thread::sleep(HAND);
        Ok(())
    }

    /// The middle of the topmost widget whose name begins so, else of the one that has it within.
    fn find(&self, name: &str) -> Res<Option<(i32, i32)>> {
        // Before the first frame there is none.
        let all = std::fs::read_to_string(self.folder.path().join(WIDGETS)).unwrap_or_default();
        let of = |fits: &dyn Fn(&str) -> bool| {
            let fitting = all.lines().filter_map(widget).filter(|(_, found)| fits(found));
            fitting.min_by_key(|((x, y), _)| (*y, *x))
        };
        let found =
            of(&|found| found.starts_with(name)).or_else(|| of(&|found| found.contains(name)));
        Ok(found.map(|(middle, _)| middle))
    }

    /// Whether a widget of this name is there.
    pub(crate) fn has_widget(&self, name: &str) -> Res<bool> {
        Ok(self.find(name)?.is_some())
    }

    /// Waits until a widget of this name is there; gives its middle.
    pub(crate) fn until_widget(&mut self, name: &str) -> Res<(i32, i32)> {
        wait_for(&format!("\"{name}\" in the window"), LONGEST, || self.find(name))
    }

    fn point(&mut self, (x, y): (i32, i32)) -> Res<()> {
        self.tool(&["mousemove", &x.to_string(), &y.to_string()])?;
        std::thread::sleep(HAND);
        Ok(())
    }

    /// Clicks on the widget of this name.
    pub(crate) fn click(&mut self, name: &str, button: Button) -> Res<()> {
        self.lives()?;
        let middle = self.until_widget(name)?;
        self.point(middle)?;
        self.tool(&["click", &(button as u8).to_string()])?;
        self.clicked += 1;
        std::thread::sleep(HAND * 3);
        Ok(())
    }

    /// Clicks on the widget of this name until it is gone: it may not do anything yet.
    pub(crate) fn click_enabled(&mut self, name: &str) -> Res<()> {
        self.click(name, Button::Left)?;
        for _ in 0..20 {
            if !self.has_widget(name)? {
                return Ok(());
            }
            let before = self.clicked;
            self.click(name, Button::Left)?;
            self.clicked = before;
        }
        Err(format!("\"{name}\" does nothing").into())
    }

    /// Drags one widget onto another.
    pub(crate) fn drag(&mut self, from: &str, to: &str) -> Res<()> {
        let (from, to) = (self.until_widget(from)?, self.until_widget(to)?);
        self.point(from)?;
        self.tool(&["mousedown", "1"])?;
        let between = (i32::midpoint(from.0, to.0), i32::midpoint(from.1, to.1));
        for place in [between, to] {
            self.point(place)?;
        }
        self.tool(&["mouseup", "1"])?;
        self.clicked += 1;
        std::thread::sleep(HAND * 3);
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
/// Where the console writes what is in its window.
const WIDGETS: &str = "widgets";

/// A line of the file: the widget's middle and its name.
fn widget(line: &str) -> Option<((i32, i32), &str)> {
    let mut parts = line.splitn(5, ' ');
    let mut number = || parts.next()?.parse::<i32>().ok();
    let (left, top, right, bottom) = (number()?, number()?, number()?, number()?);
    Some(((i32::midpoint(left, right), i32::midpoint(top, bottom)), parts.next()?))
}

/// A command on our screen and no other.
fn at(mut command: Command, display: &Display) -> Command {
    command.env("DISPLAY", &display.name).env_remove("WAYLAND_DISPLAY");
    command
}
