//! What is on the screen at a moment.

use crate::Res;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A picture of the screen: blue, green, red and one byte more for each pixel, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Pixels in a row, and rows.
    pub(crate) size: (u16, u16),
    /// Its bytes.
    pub(crate) pixels: Vec<u8>,
}

/// A colour as red, green and blue.
pub(crate) type Rgb = [u8; 3];

impl Picture {
    /// How many pixels have exactly this colour.
    pub(crate) fn count(&self, [red, green, blue]: Rgb) -> usize {
        let is_it = |pixel: &&[u8]| pixel.starts_with(&[blue, green, red]);
        self.pixels.chunks_exact(4).filter(is_it).count()
    }

    /// Writes it as a PNG file.
    pub(crate) fn write(&self, path: &Path) -> Res<()> {
        let rows = self.pixels.chunks_exact(4).filter_map(|pixel| match pixel {
            [blue, green, red, _] => Some([*red, *green, *blue]),
            _ => None,
        });
        let rows: Vec<u8> = rows.flatten().collect();
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.size.0.into(), self.size.1.into());
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&rows)?;
        Ok(writer.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_counted_and_written_as_it_is_on_the_screen() {
        let pixels = [[8, 0x34, 0xA8, 0], [0x34, 8, 0xA8, 0], [8, 0x34, 0xA8, 255]].concat();
        let picture = Picture { size: (3, 1), pixels };
        assert_eq!(picture.count([0xA8, 0x34, 8]), 2);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three.png");
        picture.write(&path).unwrap();
        let file = std::io::BufReader::new(File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        assert_eq!(bytes, [0xA8, 0x34, 8, 0xA8, 8, 0x34, 0xA8, 0x34, 8]);
    }
}
