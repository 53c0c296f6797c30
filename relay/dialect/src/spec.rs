//! What a dialect must provide: the trait that each folder fulfils. [`table`](crate::table) has a
//! row for each dialect. The rest of the package uses dialects only through this trait.

use crate::common::fields::Fields;
use crate::common::needs::Needs;
use crate::common::reject::Reject;
use crate::common::spots::{Part, Spot};
use crate::endpoint::{Address, Endpoint};
use crate::errors::client_error::ClientError;
use crate::errors::rows::Row;
use crate::neutral::{Limits, Request, Target, Unsupported, Upstream};
use crate::stream::facts::AnswerSpec;
use crate::stream::observer::{Reader, Writer};
use crate::stream::transform::Transform;
use bytes::BytesMut;
use serde_json::value::RawValue;

/// The provider's side of a dialect.
pub(crate) trait Spec: Sync {
    /// The paths, headers and key header for calls of its providers.
    fn address(&self) -> &'static Address;

    /// The tables of what its providers' errors mean; an earlier row wins.
    fn errors(&self) -> &'static [&'static [Row]];

    /// Fields that no other dialect has, in lower case. If an error complains about such a field,
    /// the relay wrote the request wrongly, not the client.
    fn own_fields(&self) -> &'static [&'static str];

    /// Reads an answer.
    fn reader(&self, spec: &AnswerSpec) -> Box<dyn Reader>;

    /// Whether its providers send errors outside of events: [`Reader::beside`] reads them.
    fn has_errors_beside_events(&self) -> bool {
        false
    }

    /// Checks whether all of a request can be written, without writing it.
    ///
    /// # Errors
    /// Names what cannot be written.
    fn can_write(&self, request: &Request) -> Result<(), Unsupported>;

    /// Writes a request.
    ///
    /// # Errors
    /// Names what cannot be written.
    fn write_request(
        &self,
        request: &Request,
        target: &Target<'_>,
    ) -> Result<Upstream, Unsupported>;

    /// The client's side of the dialect; `None`: no client speaks it.
    fn client(&self) -> Option<&'static dyn ClientSpec> {
        None
    }
}

/// The client's side of a dialect.
pub(crate) trait ClientSpec: Sync {
    /// The field that holds the prompt.
    fn main_field(&self) -> &'static str;

    /// Whether a request asks for its usage, and how many answers it wants.
    ///
    /// # Errors
    /// Says which field is wrong.
    fn usage_and_choices(&self, _fields: &Fields) -> Result<(bool, u32), Reject> {
        Ok((true, 1))
    }

    /// Whether providers send the usage of a stream only if the request asks for it.
    fn asks_for_usage(&self) -> bool {
        false
    }

    /// What a rung must be able to do for a request.
    ///
    /// # Errors
    /// Says which field is wrong.
    fn needs(&self, fields: &Fields) -> Result<Needs, Reject>;

    /// Reads a request into the neutral form.
    ///
    /// # Errors
    /// Says which field is wrong.
    fn read_request(&self, fields: &Fields) -> Result<Request, Reject>;

    /// Writes the request for a rung of the same dialect, with the client's own bytes.
    fn pass_request(&self, fields: &Fields, target: &Target<'_>) -> Upstream;

    /// The JSON schema that the answer must follow.
    fn schema<'f>(&self, fields: &'f Fields) -> Option<&'f RawValue>;

    /// The limits for names and ids at a provider of this model.
    fn limits(&self, model: &str) -> Limits;

    /// The places of names and ids in a request.
    fn request_names(&self) -> &'static [Part];

    /// The places of names in an event or a whole answer; `None`: names come in pieces, so
    /// [`Transform::restore`] handles them.
    fn answer_names(&self) -> Option<&'static Spot>;

    /// Puts the items that a request only refers to into it. `find` returns an item by its id.
    ///
    /// # Errors
    /// The request refers to an item that only the relay could know, and that is not kept any more.
    fn follow(
        &self,
        _fields: &Fields,
        _find: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Followed>, Reject> {
        Ok(None)
    }

    /// What a later request of the client may refer to in this answer: ids, and the content of
    /// each.
    fn kept(&self, _fields: &Fields, _answer: &[u8]) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Writes an answer.
    fn writer(&self, spec: &AnswerSpec) -> Box<dyn Writer>;

    /// Passes an answer of the same dialect through.
    fn pass_through(&self, spec: AnswerSpec) -> Box<dyn Transform>;

    /// Passes through an answer of an endpoint that only this dialect has.
    fn pass_through_at(&self, _endpoint: Endpoint, spec: AnswerSpec) -> Box<dyn Transform> {
        self.pass_through(spec)
    }

    /// Writes the relay's own error as a body.
    fn error_body(&self, error: &ClientError<'_>) -> Vec<u8>;

    /// Writes the relay's own error as the end of a stream to which `sequence` events were written.
    fn error_event(&self, error: &ClientError<'_>, sequence: u64, out: &mut BytesMut);

    /// The bytes that keep a silent stream open. By default they are a comment line without a blank
    /// line after it: the SSE block stays open until the next event.
    fn heartbeat(&self) -> &'static [u8] {
        b":\n"
    }

    /// Ends the block that heartbeats have opened, so that the next event has a block of its own.
    /// It writes an event without content, if the dialect has one.
    fn close_heartbeats(&self, _id: &str, _created: i64, _model: &str, _out: &mut BytesMut) {}
}

/// A request into which the items were put that it only referred to.
pub(crate) struct Followed {
    /// With all items, for the neutral form.
    pub(crate) full: Fields,
    /// With only the items that this relay made, for a rung of the same dialect: its provider may
    /// know the others.
    pub(crate) own: Fields,
}
