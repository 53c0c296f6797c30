//! A picture of dots: lines, boxes and words.

use crate::Res;
use crate::font::glyph;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Red, green, blue.
pub(crate) type Colour = [u8; 3];

/// Dots of a glyph are so large.
const DOT: f64 = 2.0;
/// From one letter to the next.
const ADVANCE: f64 = 4.0 * DOT;

/// The picture.
#[derive(Debug)]
pub(crate) struct Canvas {
    width: u32,
    height: u32,
    dots: Vec<Colour>,
}

impl Canvas {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let count = usize::try_from(u64::from(width) * u64::from(height)).unwrap_or_default();
        Self { width, height, dots: vec![[255; 3]; count] }
    }

    fn dot(&mut self, x: f64, y: f64, colour: Colour) {
        if x < 0.0 || y < 0.0 || x >= f64::from(self.width) || y >= f64::from(self.height) {
            return;
        }
        let at = whole(y) * whole(f64::from(self.width)) + whole(x);
        if let Some(dot) = self.dots.get_mut(at) {
            *dot = colour;
        }
    }

    /// A filled box.
    pub(crate) fn fill(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        let mut y = from.1;
        while y < to.1 {
            let mut x = from.0;
            while x < to.0 {
                self.dot(x, y, colour);
                x += 1.0;
            }
            y += 1.0;
        }
    }

    /// A line of the given thickness.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), thick: f64, colour: Colour) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.abs().max(dy.abs()).max(1.0);
        let mut step = 0.0;
        while step <= length {
            let part = step / length;
            let (x, y) = (from.0 + dx * part, from.1 + dy * part);
            let half = thick / 2.0;
            self.fill((x - half, y - half), (x + half, y + half), colour);
            step += 1.0;
        }
    }

    /// Words, with their top left corner here.
    pub(crate) fn words(&mut self, at: (f64, f64), words: &str, colour: Colour) {
        let mut x = at.0;
        for letter in words.chars() {
            let mut y = at.1;
            for row in glyph(letter) {
                for (bit, across) in [(4, 0.0), (2, DOT), (1, 2.0 * DOT)] {
                    if row & bit != 0 {
                        self.fill((x + across, y), (x + across + DOT, y + DOT), colour);
                    }
                }
                y += DOT;
            }
            x += ADVANCE;
        }
    }

    /// Writes it as a PNG file.
    pub(crate) fn save(&self, path: &Path) -> Res<()> {
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.dots.as_flattened())?;
        writer.finish()?;
        Ok(())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a coordinate that was found to be inside"
)]
const fn whole(value: f64) -> usize {
    value as usize
}
