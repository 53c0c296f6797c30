//! A request that may be kept whole, for grading elsewhere.
//!
//! Only if its ladder is configured for it, and only if a rung below the first one answered: that is
//! when the answer may be worse than usual. What the client was sent is collected as it
//! goes, and put together into one JSON body at the end.

use bytes::BytesMut;
use dialect::answer::{AnswerReader, AnswerSpec, End, Form};
use shared::RequestId;

/// Larger answers are not kept.
const MOST_ANSWER: usize = 2 * 1024 * 1024;
/// Nor are larger requests.
pub(super) const MOST_ASKED: usize = 2 * 1024 * 1024;

/// An answer being collected.
#[derive(Default)]
pub(super) struct Capture {
    sent: Vec<u8>,
    too_large: bool,
}

/// Without the answer.
impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").field("bytes", &self.sent.len()).finish()
    }
}

impl Capture {
    /// Takes in what the client is sent.
    pub(super) fn sent(&mut self, bytes: &[u8]) {
        if self.sent.len().saturating_add(bytes.len()) > MOST_ANSWER {
            self.too_large = true;
            self.sent = Vec::new();
        }
        if !self.too_large {
            self.sent.extend_from_slice(bytes);
        }
    }

    /// The whole answer as JSON, if it is not too large. `spec` is the client's.
    pub(super) fn whole(self, spec: AnswerSpec) -> Option<String> {
        if self.too_large {
            return None;
        }
        if spec.form == Form::Whole {
            return String::from_utf8(self.sent).ok();
        }
        let to = spec.to;
        let mut reader = AnswerReader::new(AnswerSpec { from: to, to, form: Form::Whole, ..spec });
        let (mut progress, mut out) =
            (reader.read(&self.sent, &mut BytesMut::new()), BytesMut::new());
        if progress.end.is_none() {
            progress = reader.end_of_body(&mut out);
        }
        let whole = (progress.end == Some(End::Proper)).then(|| reader.take_whole())?;
        String::from_utf8(whole).ok()
    }
}

/// Whether this request is among the share that is kept: the same in every look.
pub(super) fn is_sampled(id: RequestId, share: f64) -> bool {
    // The number's low bits count up; multiplied, they are spread over all of them.
    let spread = id.number().unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let place = spread as f64 / (1_u64 << 53) as f64;
    place < share
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::Dialect;

    #[test]
    fn a_share_of_all_requests_is_a_share() {
        for share in [0.0, 0.1, 0.5, 1.0] {
            let ids = (0..20_000_u64).map(|n| RequestId::from_number(7_000_000 + n));
            let kept = ids.filter(|id| is_sampled(*id, share)).count();
            let kept = f64::from(u32::try_from(kept).unwrap()) / 20_000.0;
            assert!((kept - share).abs() < 0.02, "{share}: {kept}");
        }
    }

    #[test]
    fn a_stream_is_kept_as_one_body_and_what_is_too_large_not_at_all() {
        let spec = AnswerSpec {
            from: Dialect::OpenaiChat,
            to: Dialect::OpenaiChat,
            form: Form::Stream,
            wants_usage: false,
            choices: 1,
            finishes: false,
            max_event: 1 << 20,
            max_answer: 1 << 22,
            request: RequestId::from_number(1),
            created: 0,
        };
        let mut capture = Capture::default();
        for part in [
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a",
            "b\"}}]}\n\n: belay {}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        ] {
            capture.sent(part.as_bytes());
        }
        let whole: serde_json::Value = serde_json::from_str(&capture.whole(spec).unwrap()).unwrap();
        assert_eq!(whole["choices"][0]["message"]["content"], "ab");
        let mut large = Capture::default();
        large.sent(&vec![b'x'; MOST_ANSWER]);
        large.sent(b"y");
        assert_eq!(large.whole(spec), None);
        assert!(
            !format!("{:?}", Capture { sent: b"secret".to_vec(), too_large: false })
                .contains("secret")
        );
    }
}
