//! The clipboard of the screen, as any other program sees it.

use crate::display::Display;
use crate::{Res, wait_for};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT, CURRENT_TIME, NONE};

/// Who owns the clipboard answers by then.
const ANSWER: Duration = Duration::from_secs(2);
/// How often an owner looks for a question.
const LOOK: Duration = Duration::from_millis(5);

/// A program of its own on the screen.
#[derive(Debug)]
pub(crate) struct Clipboard {
    display: String,
    connection: RustConnection,
    window: Window,
}

/// Holds a text in the clipboard until it is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // One that failed has said so by what was not pasted.
            let _ = thread.join();
        }
    }
}

impl Clipboard {
    /// On this screen.
    pub(crate) fn of(display: &Display) -> Res<Self> {
        let (connection, screen) = x11rb::connect(Some(&display.name))?;
        let root = connection.setup().roots.get(screen).ok_or("Xvfb has no screen")?.root;
        let window = connection.generate_id()?;
        let (depth, visual) = (COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT);
        let (kind, aux) = (WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
        connection
            .create_window(depth, window, root, 0, 0, 1, 1, 0, kind, visual, &aux)?
            .check()?;
        Ok(Self { display: display.name.clone(), connection, window })
    }

    fn atom(&self, name: &str) -> Res<u32> {
        Ok(self.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }

    /// The text in it; `None`: there is none.
    pub(crate) fn read(&self) -> Res<Option<String>> {
        let (clipboard, text) = (self.atom("CLIPBOARD")?, self.atom("UTF8_STRING")?);
        let place = self.atom("BELAY_TEST")?;
        let connection = &self.connection;
        connection.convert_selection(self.window, clipboard, text, place, CURRENT_TIME)?.check()?;
        wait_for("the clipboard's owner", ANSWER, || match connection.poll_for_event()? {
            Some(Event::SelectionNotify(told)) if told.property == NONE => Ok(Some(None)),
            Some(Event::SelectionNotify(_)) => {
                let any = AtomEnum::ANY;
                let found = connection.get_property(true, self.window, place, any, 0, 65_536)?;
                Ok(Some(Some(String::from_utf8(found.reply()?.value)?)))
            }
            _ => Ok(None),
        })
    }

    /// Puts a text into it, as a program does that answers whoever pastes.
    pub(crate) fn own(&self, text: &str) -> Res<Owner> {
        let (connection, screen) = x11rb::connect(Some(&self.display))?;
        let root = connection.setup().roots.get(screen).ok_or("Xvfb has no screen")?.root;
        let window = connection.generate_id()?;
        let (depth, visual) = (COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT);
        let aux = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let kind = WindowClass::INPUT_OUTPUT;
        connection
            .create_window(depth, window, root, 0, 0, 1, 1, 0, kind, visual, &aux)?
            .check()?;
        let atoms = [self.atom("CLIPBOARD")?, self.atom("UTF8_STRING")?, self.atom("TARGETS")?];
        connection.set_selection_owner(window, atoms[0], CURRENT_TIME)?.check()?;
        let ends = Arc::new(AtomicBool::new(false));
        let (until, text) = (Arc::clone(&ends), text.to_owned());
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                if answer(&connection, atoms, &text).is_none() {
                    return;
                }
            }
        });
        Ok(Owner { ends, thread: Some(thread) })
    }
}

/// Answers one question, if there is one; `None`: the screen has gone.
fn answer(connection: &RustConnection, atoms: [u32; 3], text: &str) -> Option<()> {
    let [_, utf8, targets] = atoms;
    let Some(event) = connection.poll_for_event().ok()? else {
        std::thread::sleep(LOOK);
        return Some(());
    };
    let Event::SelectionRequest(asked) = event else { return Some(()) };
    let (whom, place) = (asked.requestor, asked.property);
    let replace = PropMode::REPLACE;
    let property = if asked.target == targets {
        connection
            .change_property32(replace, whom, place, AtomEnum::ATOM, &[targets, utf8])
            .ok()?;
        place
    } else if asked.target == utf8 {
        connection.change_property8(replace, whom, place, utf8, text.as_bytes()).ok()?;
        place
    } else {
        NONE
    };
    let told = SelectionNotifyEvent {
        response_type: SELECTION_NOTIFY_EVENT,
        sequence: 0,
        time: asked.time,
        requestor: whom,
        selection: asked.selection,
        target: asked.target,
        property,
    };
    connection.send_event(false, whom, EventMask::NO_EVENT, told).ok()?;
    connection.flush().ok()
}
