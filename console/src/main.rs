//! The console's window.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use console::args::Args;
use console::frames::Frames;
use console::link::Link;
use console::settings::{self, Settings};
use console::widgets::Widgets;
use console::window::{TITLE, Window};
use eframe::egui::ViewportBuilder;
use shared::remote::{Remote, RemoteError};

fn main() -> ExitCode {
    let named = std::env::var("BELAY_RELAY").unwrap_or_default();
    let settings = settings::load();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() => return fail(2, error.to_string().trim_end()),
        Err(help) => {
            // Whoever closed the pipe does not want to read it.
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    let relays = args.relays(&named, &settings.relays);
    let append = |path: &Path| {
        let why = |error| format!("--frames {} cannot be opened: {error}", path.display());
        Frames::append(path).map_err(why)
    };
    let frames = args.frames.as_deref().map(append).transpose();
    let remotes = open(&relays, args.token_file.as_deref()).map_err(|why| why.to_string());
    match remotes.and_then(|remotes| Ok((remotes, frames?))) {
        Ok((remotes, frames)) => {
            let widgets = args.widgets.map(Widgets::at);
            window(Settings { relays, ..settings }, remotes, frames, widgets)
        }
        Err(why) => fail(2, &why),
    }
}

/// The relays, each with the token.
fn open(urls: &[String], token_file: Option<&Path>) -> Result<Vec<Remote>, RemoteError> {
    let token = shared::remote::token(token_file)?;
    // Nobody else in this process chooses one.
    let _first = rustls::crypto::ring::default_provider().install_default();
    let remotes: Vec<Remote> =
        urls.iter().map(|url| Remote::new(url, token.as_deref())).collect::<Result<_, _>>()?;
    for warning in remotes.iter().filter_map(Remote::in_clear) {
        let _ = writeln!(std::io::stderr(), "belay-console: {warning}");
    }
    Ok(remotes)
}

fn window(
    settings: Settings,
    remotes: Vec<Remote>,
    frames: Option<Frames>,
    widgets: Option<Widgets>,
) -> ExitCode {
    let viewport = ViewportBuilder::default()
        .with_title(TITLE)
        .with_app_id("belay-console")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([800.0, 560.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let opened = eframe::run_native(
        TITLE,
        options,
        Box::new(move |cc| {
            let (tell, news) = console::window::news();
            if let Some(widgets) = widgets {
                cc.egui_ctx.add_plugin(widgets);
            }
            let ctx = cc.egui_ctx.clone();
            let wake = move |after| ctx.request_repaint_after(after);
            let link = Link::start(remotes, tell.clone(), Box::new(wake))?;
            Ok(Box::new(Window::new(settings, (tell, news), link, frames)))
        }),
    );
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
    // Where neither can be written there is nowhere left to say it.
    let _ = writeln!(std::io::stderr(), "belay-console: {why}");
    if let Some(path) = settings::log_place() {
        let _ = std::fs::create_dir_all(path.parent().unwrap_or(&path));
        let file = std::fs::File::options().create(true).append(true).open(&path);
        let _ = file.and_then(|mut file| writeln!(file, "{} {why}", console::clock::stamp()));
    }
    ExitCode::from(code)
}
