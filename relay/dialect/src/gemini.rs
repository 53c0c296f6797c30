//! Gemini's `streamGenerateContent`, only on the providers' side.

mod args;
mod beside;
mod endpoint;
mod errors;
pub(crate) mod finish;
mod reader;
mod usage;
mod write_request;

use crate::endpoint::Address;
use crate::errors::rows::Row;
use crate::neutral::{Request, Target, Unsupported, Upstream};
use crate::spec::Spec;
use crate::stream::facts::AnswerSpec;
use crate::stream::observer::Reader;

/// The dialect.
pub(crate) struct Gemini;

impl Spec for Gemini {
    fn address(&self) -> &'static Address {
        &endpoint::ADDRESS
    }

    fn errors(&self) -> &'static [&'static [Row]] {
        &[errors::GEMINI]
    }

    fn own_fields(&self) -> &'static [&'static str] {
        &[
            "thinkingconfig",
            "thinking_config",
            "generationconfig",
            "generation_config",
            "responsejsonschema",
            "parametersjsonschema",
            "thoughtsignature",
            "thought_signature",
        ]
    }

    fn reader(&self, spec: &AnswerSpec) -> Box<dyn Reader> {
        Box::new(reader::GeminiReader::new(spec.request))
    }

    fn has_errors_beside_events(&self) -> bool {
        true
    }

    fn can_write(&self, request: &Request) -> Result<(), Unsupported> {
        write_request::can_write(request)
    }

    fn write_request(
        &self,
        request: &Request,
        target: &Target<'_>,
    ) -> Result<Upstream, Unsupported> {
        write_request::write_request(request, target)
    }
}
