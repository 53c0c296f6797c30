//! How calls are refused: what many have in common, as one word each in their descriptions.

use shared::admin::changes::Refusal;
use std::collections::BTreeMap;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr};
use utoipa::{IntoResponses, ToSchema as _};

/// Refused before a handler is asked.
pub(super) const HOST: (&str, &str) = ("403", "A foreign Host or Origin.");
const RATE: &str = "429";

/// Names sets of refusals: status and when.
macro_rules! refusals {
    ($($(#[$meta:meta])* $name:ident: $($refusal:expr),+;)+) => {$(
        $(#[$meta])*
        pub(in crate::admin) enum $name {}

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$($refusal),+].into_iter().map(refusal).collect()
            }
        }
    )+};
}

refusals! {
    /// What needs no token.
    Open: HOST;

    /// What needs a token, or a caller on this machine.
    Gated:
        ("400", "What was asked makes no sense, or a token is in the address."),
        ("401", "No valid token."),
        ("403", "A foreign Host or Origin; or a viewer's token, where something would change."),
        (RATE, "Too many wrong tokens from this address.");

    /// What is read from the journal.
    Read:
        ("500", "The query failed inside the relay; its log says why."),
        ("503", "The journal cannot be read.");

    /// What names something that has to be there.
    Named: ("404", "There is nothing of this name or id.");

    /// What does something.
    Doing:
        ("404", "Something that it names is not there."),
        ("408", "The body did not come in time."),
        ("409", "At odds with what is so, or the id was used for something else."),
        ("413", "The body is too long."),
        ("415", "The body is not said to be JSON."),
        ("503", "The relay is ending. Whether it was done, its action says later.");

    /// What may say on which version it is made.
    Versioned: ("412", "Somebody was faster: `present` is what is so now.");

    /// What has to say so.
    Ordering: ("428", "Which version it is made on has to be said.");
}

fn refusal((status, when): (&str, &str)) -> (String, RefOr<Response>) {
    let content =
        ContentBuilder::new().schema(Some(Ref::from_schema_name(Refusal::name()))).build();
    let mut response =
        ResponseBuilder::new().description(when).content("application/json", content);
    if status == RATE {
        let wait = HeaderBuilder::new()
            .schema(Some(Object::with_type(Type::Integer)))
            .description(Some("Seconds after which it is worth asking again."));
        response = response.header("Retry-After", wait.build());
    }
    (status.to_owned(), response.build().into())
}
