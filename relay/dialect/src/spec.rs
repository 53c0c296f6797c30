//! What a dialect has to have: the trait that each folder fulfils. [`table`](crate::table) has a
//! row for each, and the rest of the package knows them by that alone.

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

/// A dialect as providers speak it.
pub(crate) trait Spec: Sync {
    /// Where and how its providers are called.
    fn address(&self) -> &'static Address;

    /// What its providers' errors mean, in the order in which the rows count.
    fn errors(&self) -> &'static [&'static [Row]];

    /// Fields that no other dialect has, in lower case: a complaint about one is about how the
    /// relay wrote a request.
    fn own_fields(&self) -> &'static [&'static str];

    /// Reads an answer.
    fn reader(&self, spec: &AnswerSpec) -> Box<dyn Reader>;

    /// Whether its providers say things outside of events: [`Reader::beside`] reads them.
    fn has_signs_of_life_beside_events(&self) -> bool {
        false
    }

    /// Whether all of a request can be written, without writing it.
    ///
    /// # Errors
    /// Names what cannot.
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

    /// The same dialect as clients speak it; `None`: none does.
    fn client(&self) -> Option<&'static dyn ClientSpec> {
        None
    }
}

/// A dialect as clients speak it.
pub(crate) trait ClientSpec: Sync {
    /// The field that holds what is asked.
    fn main_field(&self) -> &'static str;

    /// Whether a request asks for its usage, and how many answers it wants.
    ///
    /// # Errors
    /// Says which field is wrong.
    fn usage_and_choices(&self, _fields: &Fields) -> Result<(bool, u32), Reject> {
        Ok((true, 1))
    }

    /// Whether a provider tells the usage of a stream only where it is asked for it.
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

    /// The client's own bytes for a rung of the same dialect.
    fn pass_request(&self, fields: &Fields, target: &Target<'_>) -> Upstream;

    /// The JSON schema that the answer must follow.
    fn schema<'f>(&self, fields: &'f Fields) -> Option<&'f RawValue>;

    /// Which names and ids a provider of this model takes.
    fn limits(&self, model: &str) -> Limits;

    /// Where names and ids stand in a request.
    fn request_names(&self) -> &'static [Part];

    /// Where names stand in an event or a whole answer; `None`: they come in pieces, and
    /// [`Transform::restore`] sees to them.
    fn answer_names(&self) -> Option<&'static Spot>;

    /// Puts in what a request only refers to, as `find` has it by its id.
    ///
    /// # Errors
    /// It refers to what nobody can know any more.
    fn follow(
        &self,
        _fields: &Fields,
        _find: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Followed>, Reject> {
        Ok(None)
    }

    /// What the client may refer to later of an answer: ids and what stands under them.
    fn kept(&self, _fields: &Fields, _answer: &[u8]) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Writes an answer.
    fn writer(&self, spec: &AnswerSpec) -> Box<dyn Writer>;

    /// Passes an answer of the same dialect through.
    fn pass_through(&self, spec: AnswerSpec) -> Box<dyn Transform>;

    /// Passes an answer of an endpoint of its own through.
    fn pass_through_at(&self, _endpoint: Endpoint, spec: AnswerSpec) -> Box<dyn Transform> {
        self.pass_through(spec)
    }

    /// The body of the relay's own error.
    fn error_body(&self, error: &ClientError<'_>) -> Vec<u8>;

    /// Writes the relay's own error as the end of a stream that has had `sequence` events.
    fn error_event(&self, error: &ClientError<'_>, sequence: u64, out: &mut BytesMut);

    /// What keeps a silent stream open. A comment line without a blank line after it: the
    /// block stays open until the next event.
    fn heartbeat(&self) -> &'static [u8] {
        b":\n"
    }

    /// Ends the block that heartbeats have opened with an event that says nothing, where there
    /// is one, so that the next event has a block of its own.
    fn close_heartbeats(&self, _id: &str, _created: i64, _model: &str, _out: &mut BytesMut) {}
}

/// A request with what it only referred to put in.
pub(crate) struct Followed {
    /// Everything, for the neutral form.
    pub(crate) full: Fields,
    /// With what this relay made alone, for a rung of the same dialect, which may know the rest.
    pub(crate) own: Fields,
}
