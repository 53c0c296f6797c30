//! OpenAI responses, on both sides of the relay.

mod client_error;
mod collect;
mod endpoint;
mod errors;
pub(crate) mod finish;
mod items;
mod limits;
mod needs;
mod pass_request;
mod read_request;
mod reader;
mod references;
mod replay;
mod usage;
mod write_request;
mod writer;

use crate::chat;
use crate::common::fields::Fields;
use crate::common::needs::Needs;
use crate::common::reject::Reject;
use crate::common::spots::{Part, Spot};
use crate::common::values::{member, schema_format};
use crate::endpoint::Address;
use crate::errors::client_error::{ClientError, openai_body};
use crate::errors::rows::Row;
use crate::neutral::{Limits, Request, Target, Unsupported, Upstream};
use crate::spec::{ClientSpec, Followed, Spec};
use crate::stream::facts::AnswerSpec;
use crate::stream::observer::{Reader, Writer};
use crate::stream::pass_through::{Parts, PassThrough};
use crate::stream::transform::Transform;
use bytes::BytesMut;
use serde_json::value::RawValue;

/// The dialect.
pub(crate) struct Responses;

impl Spec for Responses {
    fn address(&self) -> &'static Address {
        &endpoint::ADDRESS
    }

    // Its providers are also those of chat.
    fn errors(&self) -> &'static [&'static [Row]] {
        &[errors::OPENAI_RESPONSES, chat::ERRORS]
    }

    fn own_fields(&self) -> &'static [&'static str] {
        &["max_output_tokens", "reasoning.effort", "encrypted_content", "encrypted content"]
    }

    fn reader(&self, _spec: &AnswerSpec) -> Box<dyn Reader> {
        Box::new(reader::ResponsesReader::default())
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

    fn client(&self) -> Option<&'static dyn ClientSpec> {
        Some(&Self)
    }
}

impl ClientSpec for Responses {
    fn main_field(&self) -> &'static str {
        "input"
    }

    fn needs(&self, fields: &Fields) -> Result<Needs, Reject> {
        needs::needs(fields)
    }

    fn read_request(&self, fields: &Fields) -> Result<Request, Reject> {
        read_request::read_request(fields)
    }

    fn pass_request(&self, fields: &Fields, target: &Target<'_>) -> Upstream {
        pass_request::pass_request(fields, target)
    }

    fn schema<'f>(&self, fields: &'f Fields) -> Option<&'f RawValue> {
        let format = member(fields.get("text")?, "format")?;
        member(schema_format(format)?, "schema")
    }

    fn limits(&self, _model: &str) -> Limits {
        limits::LIMITS
    }

    fn request_names(&self) -> &'static [Part] {
        limits::ASKED
    }

    fn answer_names(&self) -> Option<&'static Spot> {
        Some(&limits::ANSWERED)
    }

    fn follow(
        &self,
        fields: &Fields,
        find: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Followed>, Reject> {
        references::followed(fields, find)
    }

    fn kept(&self, fields: &Fields, answer: &[u8]) -> Vec<(String, String)> {
        if fields.text("store") == Some("false") {
            return Vec::new();
        }
        references::kept(fields, answer)
    }

    fn writer(&self, spec: &AnswerSpec) -> Box<dyn Writer> {
        Box::new(writer::ResponsesWriter::new(spec))
    }

    fn pass_through(&self, spec: AnswerSpec) -> Box<dyn Transform> {
        let parts = Parts {
            reader: self.reader(&spec),
            writer: self.writer(&spec),
            collect: Box::<collect::Collected>::default(),
            is_event: |name| name.starts_with("response."),
            start: "response.created",
            replay: replay::replay,
        };
        Box::new(PassThrough::new(spec, parts))
    }

    fn error_body(&self, error: &ClientError<'_>) -> Vec<u8> {
        openai_body(error)
    }

    fn error_event(&self, error: &ClientError<'_>, sequence: u64, out: &mut BytesMut) {
        client_error::error_event(error, sequence, out);
    }
}
