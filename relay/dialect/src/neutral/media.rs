//! Media types and data URLs in one form.
//!
//! Clients write media types in many ways, and providers compare them with a list: they refuse a
//! parameter, a capital letter or an old name. So they are put into their usual form when they are
//! read.

use crate::neutral::Source;

/// Unusual names that clients send, and the names that providers know.
const USUAL: &[(&str, &str)] = &[
    ("image/jpg", "image/jpeg"),
    ("image/pjpeg", "image/jpeg"),
    ("image/x-png", "image/png"),
    ("application/x-pdf", "application/pdf"),
    ("text/x-markdown", "text/markdown"),
    ("audio/x-wav", "audio/wav"),
    ("audio/wave", "audio/wav"),
    ("audio/mp3", "audio/mpeg"),
];

/// How base64 data of each type begins. Used if no type is given.
const BEGINNINGS: &[(&str, &str)] = &[
    ("/9j/", "image/jpeg"),
    ("iVBORw0KGgo", "image/png"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi0", "application/pdf"),
];

/// A media type in lower case, without parameters and under its usual name.
#[must_use]
pub fn media_type(given: &str) -> String {
    let bare = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let usual = USUAL.iter().find(|(name, _)| *name == bare);
    usual.map_or(bare, |(_, usual)| (*usual).to_owned())
}

impl Source {
    /// Base64 data of the media type `given`, in any spelling. If `given` names no type, the
    /// beginning of the data tells it.
    #[must_use]
    pub fn of_base64(given: &str, data: String) -> Self {
        let mut media_type = media_type(given);
        if matches!(media_type.as_str(), "" | "image/*" | "application/octet-stream") {
            let known = BEGINNINGS.iter().find(|(start, _)| data.starts_with(start));
            if let Some((_, kind)) = known {
                (*kind).clone_into(&mut media_type);
            }
        }
        if media_type.is_empty() {
            "text/plain".clone_into(&mut media_type);
        }
        Self::Base64 { media_type, data }
    }

    /// Reads a web address or a data URL in base64; `None`: it is neither.
    #[must_use]
    pub fn of_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once(':')?;
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => rest.starts_with("//").then(|| Self::Url(url.to_owned())),
            "data" => {
                let (head, data) = rest.split_once(',')?;
                let (_, coding) = head.rsplit_once(';')?;
                let is_base64 = coding.trim().eq_ignore_ascii_case("base64");
                is_base64.then(|| Self::of_base64(head, data.trim().to_owned()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e4_every_spelling_of_a_data_url_comes_to_one_form() {
        for (url, wanted) in [
            ("data:image/png;base64,AAAA", Some(("image/png", "AAAA"))),
            ("data:image/PNG;base64,AAAA", Some(("image/png", "AAAA"))),
            ("data:image/jpg;base64,AAAA", Some(("image/jpeg", "AAAA"))),
            ("data:image/jpeg;charset=utf-8;base64,AAAA", Some(("image/jpeg", "AAAA"))),
            ("data:image/png;name=a.png;base64,AAAA", Some(("image/png", "AAAA"))),
            ("data:image/png;name=\"a;b\";base64,AAAA", Some(("image/png", "AAAA"))),
            ("data:application/x-pdf ; base64,AAAA", Some(("application/pdf", "AAAA"))),
            ("DATA:Image/Jpg;BASE64,AAAA", Some(("image/jpeg", "AAAA"))),
            ("data:;base64,/9j/AAAA", Some(("image/jpeg", "/9j/AAAA"))),
            (
                "data:application/octet-stream;base64,iVBORw0KGgoA",
                Some(("image/png", "iVBORw0KGgoA")),
            ),
            ("data:;base64,QUJD", Some(("text/plain", "QUJD"))),
            ("data:image/png,AAAA", None),
            ("data:image/png;base64", None),
            ("file:///etc/passwd", None),
            ("https:nothing", None),
            ("", None),
        ] {
            let found = Source::of_url(url);
            let wanted = wanted.map(|(media_type, data)| Source::Base64 {
                media_type: media_type.to_owned(),
                data: data.to_owned(),
            });
            assert_eq!(found, wanted, "{url}");
        }
        for url in ["https://a.example/b.png", "HTTP://a.example"] {
            assert_eq!(Source::of_url(url), Some(Source::Url(url.to_owned())));
        }
    }
}
