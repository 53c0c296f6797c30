//! Writes texts in a request.

use crate::common::fields::Writer;

/// A text block; `words` is already JSON.
pub(crate) fn text_block(words: &str) -> String {
    let mut writer = Writer::new(Vec::new());
    writer.string("type", "text");
    writer.raw("text", words);
    text(writer.finish())
}

/// JSON that was made from text is valid text.
pub(crate) fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_default()
}
