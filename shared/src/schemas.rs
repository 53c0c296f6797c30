//! Hand-made schemas for types whose JSON differs from the Rust type: for the admin API's OpenAPI
//! document.
//!
//! A derived schema of these types would be wrong: a time is a number of milliseconds in memory and
//! text on the wire. `relay` tests whether the schemas here are true: it validates what is really
//! written.

use crate::admin::changes::{Change, NewOrder};
use crate::admin::ttl::Ttl;
use crate::histogram::{BUCKETS, Bucket, Hist};
use crate::{OverrideMode, RequestId, UnixMillis};
use std::borrow::Cow;
use utoipa::openapi::schema::{
    AnyOfBuilder, ArrayBuilder, ArrayItems, Object, ObjectBuilder, Schema, SchemaFormat, Type,
};
use utoipa::openapi::{KnownFormat, Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// An id that a client makes.
#[derive(Debug)]
pub enum NewId {}

/// An operator's words.
#[derive(Debug)]
pub enum Reason {}

/// Gives types their hand-made schemas, and says which others these refer to.
macro_rules! schemas {
    ($($name:ident $(as $called:literal)? $(with $($other:ident),+)? => $schema:expr;)+) => {$(
        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }

        impl ToSchema for $name {
            $(fn name() -> Cow<'static, str> {
                $called.into()
            })?

            fn schemas(all: &mut Vec<(String, RefOr<Schema>)>) {
                $($(
                    all.push(($other::name().into_owned(), $other::schema()));
                    $other::schemas(all);
                )+)?
                // Most schemas refer to no other type.
                let _ = all;
            }
        }
    )+};
}

fn text(description: &str, pattern: &str, example: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .pattern(Some(pattern))
        .examples([example])
}

schemas! {
    UnixMillis => text(
        "A time by the relay's clock: RFC 3339, UTC, with milliseconds.",
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
        "2025-11-29T22:47:20.123Z",
    )
    .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));

    RequestId => text(
        "A request's id: ids sort by age.",
        "^req_[0-9a-hjkmnp-tv-z]{13}$",
        "req_01hgw2bbg0000",
    );

    Ttl => text(
        "How long a change lasts: a time of 1 s to a day, or `endless`.",
        "^(endless|[0-9]+ ?[a-z]+( ?[0-9]+ ?[a-z]+)*)$",
        "15m",
    );

    NewId => text(
        "Made by the client, and never used before: the same id again gives the first answer and \
         changes nothing.",
        "^[A-Za-z0-9._-]{1,64}$",
        "ann-17",
    );

    Reason => text(
        "For whoever reads it at night: 1 to 400 characters on one line, not only spaces.",
        r"^[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u001f\u007f-\u009f\s][^\u0000-\u001f\u007f-\u009f]*$",
        "hangs, ticket 4711",
    )
    .max_length(Some(400));

    // The board has buckets, too: those of tokens.
    Bucket as "HistBucket" => ArrayBuilder::new()
        .description(Some(
            "One bucket that is not empty: its index, first tokens that came in it, attempts that \
             were cut in it without a token.",
        ))
        .prefix_items([
            number().maximum(Some(BUCKETS - 1)).build(),
            number().maximum(Some(u32::MAX)).build(),
            number().maximum(Some(u32::MAX)).build(),
        ])
        .items(ArrayItems::False)
        .min_items(Some(3));

    Hist with Bucket => ArrayBuilder::new()
        .description(Some("Times to first token in log buckets, sparse and in ascending order."))
        .items(reference::<Bucket>())
        .max_items(Some(BUCKETS));

    Change with OverrideMode, NewOrder => AnyOfBuilder::new()
        .description(Some(
            "One change: of a rung's override, of those of all rungs of a provider or of a failure \
             domain, or of a ladder's order. `cut_streams` goes with `forced_open` only, and ends \
             the streams that are committed to the rung.",
        ))
        .item(force("rung"))
        .item(force("provider"))
        .item(force("domain"))
        .item(
            only_these()
                .property("ladder", Object::with_type(Type::String))
                .property("order", reference::<NewOrder>())
                .required("ladder")
                .required("order"),
        );
}

/// The schema of a closed set of words: what the set is, and what each word means, one per line.
pub(crate) fn words(about: &[&str], words: &[(&str, &[&str])]) -> RefOr<Schema> {
    let line = |lines: &[&str]| lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let mut description = line(about);
    for (word, meaning) in words {
        description.push_str(&format!("\n- `{word}`: {}", line(meaning)));
    }
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .enum_values(Some(words.iter().map(|(word, _)| *word)))
        .into()
}

fn number() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0))
}

fn reference<T: ToSchema>() -> Ref {
    Ref::from_schema_name(T::name())
}

fn only_these() -> ObjectBuilder {
    use utoipa::openapi::schema::AdditionalProperties::FreeForm;
    ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(FreeForm(false)))
}

/// An override of all rungs that this names.
fn force(whose: &str) -> ObjectBuilder {
    only_these()
        .property(whose, Object::with_type(Type::String))
        .property("mode", reference::<OverrideMode>())
        .property("cut_streams", Object::with_type(Type::Boolean))
        .required(whose)
        .required("mode")
}
