//! Anthropic messages, on both sides of the relay.

mod client_error;
mod collect;
mod endpoint;
mod errors;
pub(crate) mod finish;
mod known_fields;
mod limits;
mod needs;
mod object;
mod pass_request;
mod read_request;
mod reader;
mod replay;
mod usage;
mod words;
mod write_request;
mod write_whole;
mod writer;

use crate::common::fields::Fields;
use crate::common::needs::Needs;
use crate::common::reject::Reject;
use crate::common::spots::{Part, Spot};
use crate::common::values::{member, schema_format};
use crate::endpoint::Address;
use crate::errors::client_error::ClientError;
use crate::errors::rows::Row;
use crate::neutral::{Limits, Request, Target, Unsupported, Upstream};
use crate::spec::{ClientSpec, Spec};
use crate::stream::facts::AnswerSpec;
use crate::stream::observer::{Reader, Writer};
use crate::stream::pass_through::{Parts, PassThrough};
use crate::stream::transform::Transform;
use bytes::BytesMut;
use serde_json::value::RawValue;

/// The dialect.
pub(crate) struct Messages;

impl Spec for Messages {
    fn address(&self) -> &'static Address {
        &endpoint::ADDRESS
    }

    fn errors(&self) -> &'static [&'static [Row]] {
        &[errors::ANTHROPIC_MESSAGES]
    }

    fn own_fields(&self) -> &'static [&'static str] {
        &["budget_tokens", "output_config", "input_schema"]
    }

    fn reader(&self, spec: &AnswerSpec) -> Box<dyn Reader> {
        Box::new(reader::MessagesReader::new(spec.finishes))
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

impl ClientSpec for Messages {
    fn main_field(&self) -> &'static str {
        "messages"
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
        let new = || member(fields.get("output_config")?, "format");
        let format = new().or_else(|| fields.get("output_format"))?;
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

    fn writer(&self, spec: &AnswerSpec) -> Box<dyn Writer> {
        Box::new(writer::MessagesWriter::new(spec))
    }

    fn pass_through(&self, spec: AnswerSpec) -> Box<dyn Transform> {
        let parts = Parts {
            reader: self.reader(&spec),
            writer: self.writer(&spec),
            collect: Box::<collect::Collected>::default(),
            is_event: |name| !name.is_empty(),
            start: "message_start",
            replay: replay::replay,
        };
        Box::new(PassThrough::new(spec, parts))
    }

    fn error_body(&self, error: &ClientError<'_>) -> Vec<u8> {
        client_error::error_body(error)
    }

    fn error_event(&self, error: &ClientError<'_>, _sequence: u64, out: &mut BytesMut) {
        client_error::error_event(error, out);
    }

    // Anthropic has an event for this, which clients ignore.
    fn heartbeat(&self) -> &'static [u8] {
        b"event: ping\ndata: {\"type\":\"ping\"}\n\n"
    }
}
