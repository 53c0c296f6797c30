//! The console's window.

use std::io::Write as _;
use std::process::ExitCode;

use console::args::{self, Args};
use console::{Console, TITLE};
use eframe::egui::ViewportBuilder;

fn main() -> ExitCode {
    match args::read(std::env::args_os().skip(1)) {
        Args::Window => window(),
        Args::Help => {
            // Whoever closed the pipe does not want to read it.
            let _ = std::io::stdout().write_all(args::HELP.as_bytes());
            ExitCode::SUCCESS
        }
        Args::Refused(why) => fail(2, &why),
    }
}

fn window() -> ExitCode {
    let viewport = ViewportBuilder::default()
        .with_title(TITLE)
        .with_app_id("belay-console")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([800.0, 560.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let opened =
        eframe::run_native(TITLE, options, Box::new(|cc| Ok(Box::new(Console::new(&cc.egui_ctx)))));
    match opened {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &plain(&error)),
    }
}

/// Why there is no window, in words that help; the libraries' own name source
/// files and pixel formats.
fn plain(error: &eframe::Error) -> String {
    match error {
        eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_) => {
            "no display can be reached; it needs a graphical session, or DISPLAY set to one".into()
        }
        eframe::Error::Glutin(_)
        | eframe::Error::NoGlutinConfigs(..)
        | eframe::Error::OpenGL(_) => {
            "this display has no OpenGL; Mesa's software OpenGL (libgl1-mesa-dri) is enough".into()
        }
        other => format!("the window could not be opened: {other}"),
    }
}

fn fail(code: u8, why: &str) -> ExitCode {
    // There is nowhere else to say it.
    let _ = writeln!(std::io::stderr(), "belay-console: {why}");
    ExitCode::from(code)
}
