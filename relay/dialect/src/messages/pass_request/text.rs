//! Texts as they stand in a request.

use crate::common::fields::Writer;

/// `words` is JSON already.
pub(crate) fn text_block(words: &str) -> String {
    let mut writer = Writer::new(Vec::new());
    writer.string("type", "text");
    writer.raw("text", words);
    text(writer.finish())
}

/// JSON that was put together from text is text.
pub(crate) fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_default()
}
