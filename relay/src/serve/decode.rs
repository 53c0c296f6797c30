//! Requests that come compressed: decoded before anything is read of them.
//!
//! The limit is one of decoded bytes, and decoding ends there: a small body that would
//! become a huge one costs no more than the limit.

use super::reject::Rejection;
use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::{HeaderMap, StatusCode, header};
use std::io::{self, Read};

/// What clients are told to use.
const KNOWN: &str = "gzip, deflate, zstd";
/// A zstd frame may ask for a window of 2 to the power of this, which is memory: 8 MiB, as
/// RFC 8878 recommends.
const ZSTD_WINDOW_LOG: u32 = 23;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As it is.
    Identity,
    Gzip,
    Deflate,
    Zstd,
}

impl Encoding {
    /// What `Content-Encoding` says.
    ///
    /// # Errors
    /// An encoding that the relay does not know, or several on top of each other: a 415.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Rejection> {
        let values = headers.get_all(header::CONTENT_ENCODING).iter();
        let names = values.flat_map(|value| value.to_str().unwrap_or("?").split(','));
        let mut names = names
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| !matches!(name.as_str(), "" | "identity"));
        let Some(name) = names.next() else { return Ok(Self::Identity) };
        match (name.as_str(), names.next()) {
            ("gzip" | "x-gzip", None) => Ok(Self::Gzip),
            ("deflate", None) => Ok(Self::Deflate),
            ("zstd", None) => Ok(Self::Zstd),
            (_, Some(_)) => Err(unsupported("The request's body is encoded more than once.")),
            (name, None) => {
                let shown: String = name.chars().filter(char::is_ascii_graphic).take(40).collect();
                Err(unsupported(&format!("The relay cannot decode Content-Encoding '{shown}'.")))
            }
        }
    }

    /// `body` decoded; `limit` is that of decoded bytes. Heavy: not for a worker.
    ///
    /// # Errors
    /// A body that is not of this encoding, or longer than `limit`.
    pub(super) fn decode(self, body: Bytes, limit: usize) -> Result<Bytes, Rejection> {
        let decoded = match self {
            Self::Identity => return Ok(body),
            Self::Gzip => read(MultiGzDecoder::new(&body[..]), limit),
            Self::Deflate => read(ZlibDecoder::new(&body[..]), limit),
            Self::Zstd => zstd::Decoder::with_buffer(&body[..]).and_then(|mut decoder| {
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                read(decoder, limit)
            }),
        };
        match decoded {
            Ok(Some(decoded)) => Ok(decoded.into()),
            Ok(None) => Err(Rejection::too_large(limit)),
            Err(_broken) => Err(Rejection::new(
                StatusCode::BAD_REQUEST,
                "undecodable_body",
                "The request's body is not what its Content-Encoding says. Send it plain, or mend \
                 the encoding.",
            )),
        }
    }
}

fn unsupported(what: &str) -> Rejection {
    Rejection::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_encoding",
        format!("{what} Send it plain, or with one of: {KNOWN}."),
    )
}

/// All that `decoder` gives; `None` if that is more than `limit` bytes.
fn read(decoder: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut decoded = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(most).read_to_end(&mut decoded)?;
    Ok((decoded.len() <= limit).then_some(decoded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::io::Write as _;

    fn encoded(encoding: Encoding, plain: &[u8]) -> Bytes {
        let level = flate2::Compression::default();
        match encoding {
            Encoding::Identity => plain.to_vec(),
            Encoding::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            Encoding::Deflate => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            Encoding::Zstd => zstd::encode_all(plain, 0).unwrap(),
        }
        .into()
    }

    const ALL: [(&str, Encoding); 6] = [
        ("", Encoding::Identity),
        ("identity", Encoding::Identity),
        ("gzip", Encoding::Gzip),
        ("x-gzip", Encoding::Gzip),
        ("Deflate", Encoding::Deflate),
        ("identity, zstd", Encoding::Zstd),
    ];

    #[test]
    fn every_known_encoding_gives_the_body_back_and_a_bomb_ends_at_the_limit() {
        for (name, encoding) in ALL {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
            assert_eq!(Encoding::of(&headers).unwrap(), encoding, "{name}");
            let body = encoded(encoding, b"{\"model\":\"chat\"}");
            assert_eq!(&encoding.decode(body, 16).unwrap()[..], b"{\"model\":\"chat\"}", "{name}");
            if encoding != Encoding::Identity {
                let bomb = encoded(encoding, &vec![b' '; 64 << 20]);
                let refused = encoding.decode(bomb, 1 << 20).unwrap_err();
                assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE, "{name}");
                let broken = encoding.decode(Bytes::from_static(b"{\"model\":"), 1 << 20);
                assert_eq!(broken.unwrap_err().code, "undecodable_body", "{name}");
                let whole = encoded(encoding, &vec![b'x'; 4096]);
                let cut = encoding.decode(whole.slice(..whole.len() - 3), 1 << 20);
                assert_eq!(cut.unwrap_err().code, "undecodable_body", "{name}");
            }
        }
    }

    #[test]
    fn others_are_refused_by_name() {
        for (name, said) in [("br", "'br'"), ("gzip, gzip", "more than once"), ("gz ip", "'gzip'")]
        {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
            let refused = Encoding::of(&headers).unwrap_err();
            assert_eq!(refused.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
            assert!(format!("{refused:?}").contains(said), "{refused:?}");
        }
    }
}
