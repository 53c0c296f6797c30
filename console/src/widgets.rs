//! What is in the window and where, written to a file for tests that work it by the mouse.

use eframe::egui::accesskit::{Node, TreeUpdate};
use eframe::egui::{Context, FullOutput, Plugin, Ui};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The file: a line per widget that has a name, as `left top right bottom name`, in pixels. Each
/// frame writes it anew.
#[derive(Debug)]
pub struct Widgets {
    path: PathBuf,
}

impl Widgets {
    /// Writes the file at `path`.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Plugin for Widgets {
    fn debug_name(&self) -> &'static str {
        "widgets"
    }

    fn on_begin_pass(&mut self, ui: &mut Ui) {
        ui.ctx().enable_accesskit();
    }

    fn output_hook(&mut self, _ctx: &Context, output: &mut FullOutput) {
        let Some(update) = &output.platform_output.accesskit_update else { return };
        // Written beside and renamed: a reader never sees half of it. It reads again if it is late.
        let fresh = self.path.with_extension("new");
        let _written = std::fs::write(&fresh, lines(update))
            .and_then(|()| std::fs::rename(&fresh, &self.path));
    }
}

fn lines(update: &TreeUpdate) -> String {
    let mut text = String::new();
    for (_, node) in &update.nodes {
        let Some((bounds, name)) = node.bounds().zip(name(node)) else { continue };
        let (left, top, right, bottom) = (bounds.x0, bounds.y0, bounds.x1, bounds.y1);
        let _ = writeln!(text, "{left:.0} {top:.0} {right:.0} {bottom:.0} {name}");
    }
    text
}

/// What it says, or what it is called where it has text of its own.
fn name(node: &Node) -> Option<String> {
    let name = node.label().or_else(|| node.value())?;
    Some(name.replace('\n', " ")).filter(|name| !name.is_empty())
}
