//! A screen that nobody sees: an X server of our own.

use crate::Res;
use crate::picture::Picture;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::process::{Child, Command, Stdio};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, ImageFormat, PropMode, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT};

/// Its size, the one that the console's screens are drawn for.
pub(crate) const SIZE: (u16, u16) = (1280, 800);
/// `WM_STATE` of a window that is minimised.
const ICONIC: u32 = 3;

/// The screen; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Display {
    server: Child,
    /// What `DISPLAY` says.
    pub(crate) name: String,
    connection: RustConnection,
    root: Window,
}

impl Drop for Display {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Display {
    /// Starts one.
    pub(crate) fn start() -> Res<Self> {
        let mut log = tempfile::tempfile()?;
        let (wide, high) = SIZE;
        let started = Command::new("Xvfb")
            // Without -noreset it starts anew whenever its last client leaves, and refuses whoever
            // comes in that moment.
            .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp"])
            .args(["-screen", "0", &format!("{wide}x{high}x24")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.try_clone()?)
            .spawn();
        let mut server =
            started.map_err(|error| format!("Xvfb: {error}; tests/run installs it"))?;
        let mut number = String::new();
        if let Some(output) = server.stdout.take() {
            BufReader::new(output).read_line(&mut number)?;
        }
        if number.trim().is_empty() {
            let _ = server.wait();
            return Err(format!("Xvfb did not come up: {}", said(&mut log)?).into());
        }
        let name = format!(":{}", number.trim());
        let (connection, screen) = x11rb::connect(Some(&name))?;
        let screen = connection.setup().roots.get(screen).ok_or("Xvfb has no screen")?;
        let root = screen.root;
        Ok(Self { server, name, connection, root })
    }

    /// What is on it now.
    pub(crate) fn look(&self) -> Res<Picture> {
        let (wide, high) = SIZE;
        let all = ImageFormat::Z_PIXMAP;
        let image = self.connection.get_image(all, self.root, 0, 0, wide, high, u32::MAX)?;
        Ok(Picture { size: SIZE, pixels: image.reply()?.data })
    }

    /// Takes a window off the screen.
    pub(crate) fn unmap(&self, window: Window) -> Res<()> {
        self.connection.unmap_window(window)?.check()?;
        Ok(())
    }

    /// Puts it there again.
    pub(crate) fn map(&self, window: Window) -> Res<()> {
        self.connection.map_window(window)?.check()?;
        Ok(())
    }

    /// Covers the whole screen with a window of ours; gives it, to be taken off again.
    pub(crate) fn cover(&self) -> Res<Window> {
        let window = self.connection.generate_id()?;
        let (wide, high) = SIZE;
        // No window manager is asked, and none is there.
        let alone = CreateWindowAux::new().override_redirect(1).background_pixel(0);
        let kind = WindowClass::INPUT_OUTPUT;
        let (depth, visual) = (COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT);
        self.connection
            .create_window(depth, window, self.root, 0, 0, wide, high, 0, kind, visual, &alone)?
            .check()?;
        self.map(window)?;
        Ok(window)
    }

    /// Minimises a window, as a window manager does: it marks it, and takes it off the screen.
    pub(crate) fn minimise(&self, window: Window) -> Res<()> {
        let states = self.atom("_NET_WM_STATE")?;
        let hidden = self.atom("_NET_WM_STATE_HIDDEN")?;
        let state = self.atom("WM_STATE")?;
        let replace = |property, kind: u32, values: &[u32]| {
            self.connection.change_property32(PropMode::REPLACE, window, property, kind, values)
        };
        replace(states, AtomEnum::ATOM.into(), &[hidden])?.check()?;
        replace(state, state, &[ICONIC, 0])?.check()?;
        self.unmap(window)
    }

    fn atom(&self, name: &str) -> Res<u32> {
        Ok(self.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }
}

fn said(log: &mut File) -> Res<String> {
    let mut text = String::new();
    log.rewind()?;
    log.read_to_string(&mut text)?;
    Ok(text)
}
