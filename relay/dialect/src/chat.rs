//! OpenAI chat completions, as OpenAI and many other servers speak them.
//!
//! For both sides of the relay: clients' requests, providers' answers, and the relay's own errors
//! for chat clients. If both sides speak chat, payloads pass through as they are; only the framing
//! is normalised.

mod calls;
mod chunk;
mod collect;
mod endpoint;
mod errors;
pub(crate) mod finish;
mod limits;
mod models;
mod needs;
mod opaque;
mod pass_request;
mod pass_through;
mod read_request;
mod reader;
mod repair;
mod replay;
mod usage;
mod words;
mod write_request;
mod write_whole;
mod writer;

pub(crate) use errors::OPENAI_CHAT as ERRORS;
pub use models::{model_body, models_body};
pub use words::{DONE, TERMINATOR};

use crate::common::fields::Fields;
use crate::common::needs::Needs;
use crate::common::reject::Reject;
use crate::common::spots::{Part, Spot};
use crate::common::values::{member, schema_format};
use crate::endpoint::{Address, Endpoint};
use crate::errors::client_error::{ClientError, openai_body};
use crate::errors::rows::Row;
use crate::neutral::{Limits, Request, Target, Unsupported, Upstream};
use crate::spec::{ClientSpec, Spec};
use crate::stream::facts::AnswerSpec;
use crate::stream::observer::{Reader, Writer};
use crate::stream::transform::Transform;
use bytes::{BufMut as _, BytesMut};
use serde_json::value::RawValue;
use std::fmt::Write as _;

/// The dialect.
pub(crate) struct Chat;

impl Spec for Chat {
    fn address(&self) -> &'static Address {
        &endpoint::ADDRESS
    }

    fn errors(&self) -> &'static [&'static [Row]] {
        &[ERRORS]
    }

    fn own_fields(&self) -> &'static [&'static str] {
        &["max_completion_tokens", "reasoning_effort"]
    }

    fn reader(&self, spec: &AnswerSpec) -> Box<dyn Reader> {
        Box::new(reader::ChatReader::new(spec.finishes))
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

impl ClientSpec for Chat {
    fn main_field(&self) -> &'static str {
        "messages"
    }

    fn usage_and_choices(&self, fields: &Fields) -> Result<(bool, u32), Reject> {
        Ok((needs::wants_usage(fields)?, needs::choices(fields)?))
    }

    fn asks_for_usage(&self) -> bool {
        true
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
        let format = schema_format(fields.get("response_format")?)?;
        member(member(format, "json_schema")?, "schema")
    }

    fn limits(&self, model: &str) -> Limits {
        limits::limits(model)
    }

    fn request_names(&self) -> &'static [Part] {
        limits::ASKED
    }

    fn answer_names(&self) -> Option<&'static Spot> {
        None
    }

    fn writer(&self, spec: &AnswerSpec) -> Box<dyn Writer> {
        Box::new(writer::ChatWriter::new(spec))
    }

    fn pass_through(&self, spec: AnswerSpec) -> Box<dyn Transform> {
        Box::new(pass_through::PassThrough::new(spec))
    }

    fn pass_through_at(&self, endpoint: Endpoint, spec: AnswerSpec) -> Box<dyn Transform> {
        match endpoint {
            Endpoint::Completions => Box::new(pass_through::PassThrough::of_texts(spec)),
            Endpoint::Embeddings => Box::new(opaque::Opaque::new("data")),
            Endpoint::Moderations => Box::new(opaque::Opaque::new("results")),
            Endpoint::Answer | Endpoint::CountTokens => self.pass_through(spec),
        }
    }

    fn error_body(&self, error: &ClientError<'_>) -> Vec<u8> {
        openai_body(error)
    }

    // No `event` line: clients read the data, and some skip events with a name.
    fn error_event(&self, error: &ClientError<'_>, _sequence: u64, out: &mut BytesMut) {
        out.put_slice(b"data: ");
        out.put_slice(&openai_body(error));
        out.put_slice(b"\n\n");
    }

    // A chunk with an empty delta has no content.
    fn close_heartbeats(&self, id: &str, created: i64, model: &str, out: &mut BytesMut) {
        let model = serde_json::Value::from(model);
        let _ = write!(
            out,
            r#"data: {{"id":"chatcmpl-{id}","object":"chat.completion.chunk","created":{created},"model":{model},"choices":[{{"index":0,"delta":{{}},"finish_reason":null}}]}}"#
        );
        out.put_slice(b"\n\n");
    }
}
