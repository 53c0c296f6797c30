//! From the wire to the outcome, row by row.

use super::scenario::WHOLE;
use crate::outcome::{is_of_this_rung, is_suspicion, judge};
use crate::{Answer, Break, Ending, NoHead};
use shared::{AttemptOutcome as O, Signature as S};

fn status(status: u16, signature: Option<S>) -> Ending {
    Ending::Status {
        status,
        signature,
        certain: false,
        retry_after: None,
        names_added_field: false,
    }
}

#[test]
fn statuses_speak_where_no_matcher_knows_better() {
    let rows: &[(&[u16], O)] = &[
        (&[400, 405, 413, 422, 431], O::BadRequest),
        (&[401, 402, 403, 404, 410, 451], O::Auth),
        (&[429], O::RateLimited),
        (&[503, 529], O::Overloaded),
        (&[500, 502, 504, 520, 408, 409], O::ServerError),
        (&[201, 204, 301, 302, 307, 418, 426], O::Junk),
    ];
    for (statuses, outcome) in rows {
        for &code in *statuses {
            assert_eq!(judge(&status(code, None), false), *outcome, "{code}");
        }
    }
}

#[test]
fn a_matcher_beats_the_status() {
    let rows = [
        (429, S::Auth, O::Auth),
        (400, S::Auth, O::Auth),
        (400, S::ContextExceeded, O::ContextExceeded),
        (403, S::ContextExceeded, O::ContextExceeded),
        (400, S::Refused, O::Refused),
        (500, S::Overloaded, O::Overloaded),
        (400, S::RateLimited, O::RateLimited),
    ];
    for (code, signature, outcome) in rows {
        assert_eq!(judge(&status(code, Some(signature)), false), outcome);
        // The same error inside a 200 has the same outcome, but only before the first token.
        let event =
            Ending::ErrorEvent { signature: Some(signature), certain: false, retry_after: None };
        assert_eq!(judge(&event, false), outcome);
        assert_eq!(judge(&event, true), O::StreamError);
    }
    let unknown = Ending::ErrorEvent { signature: None, certain: false, retry_after: None };
    assert_eq!(judge(&unknown, false), O::ServerError);
}

#[test]
fn breaks_are_junk_before_the_first_token_and_told_apart_after_it() {
    let rows = [
        (Break::EndOfBody, O::Disconnect),
        (Break::Reset, O::Disconnect),
        (Break::TooLarge, O::StreamError),
        (Break::Malformed, O::StreamError),
        (Break::NotTheDialect, O::StreamError),
    ];
    for (broken, after) in rows {
        assert_eq!(judge(&Ending::Broken(broken), false), O::Junk);
        assert_eq!(judge(&Ending::Broken(broken), true), after);
    }
    assert_eq!(judge(&Ending::NoHead(NoHead::Closed), false), O::Connect);
    assert_eq!(judge(&Ending::NoHead(NoHead::NotConnected), false), O::Connect);
}

#[test]
fn proper_ends_are_answers_refusals_or_empty() {
    let rows = [
        (WHOLE, O::Ok),
        (Answer { content: false, ..WHOLE }, O::Empty),
        (Answer { content: false, length: true, ..WHOLE }, O::Ok),
        (Answer { refused: true, ..WHOLE }, O::Refused),
        (Answer { content: false, refused: true, ..WHOLE }, O::Refused),
        (Answer { invalid: true, ..WHOLE }, O::Invalid),
        (Answer { invalid: true, length: true, ..WHOLE }, O::Ok),
        (Answer { invalid: true, refused: true, ..WHOLE }, O::Refused),
        (Answer { invalid: true, content: false, ..WHOLE }, O::Empty),
    ];
    for (answer, outcome) in rows {
        assert_eq!(judge(&Ending::Proper(answer), answer.content), outcome, "{answer:?}");
    }
}

#[test]
fn b1_only_a_401_or_a_field_speaks_of_our_account_for_sure() {
    // The status, a matcher's meaning, whether a field said so, whether it is a suspicion, and
    // whether another rung may serve the request.
    for (code, signature, certain, suspected, elsewhere) in [
        (400, None, false, false, false),
        (401, None, false, false, false),
        (402, None, false, true, false),
        (403, None, false, true, false),
        (404, None, false, true, false),
        (405, None, false, false, true),
        (410, None, false, true, false),
        (413, None, false, false, false),
        (422, None, false, false, false),
        (429, None, false, false, false),
        (451, None, false, true, false),
        (500, None, false, false, false),
        (400, Some(S::Auth), false, true, false),
        (400, Some(S::Auth), true, false, false),
        (401, Some(S::Auth), false, false, false),
        (402, Some(S::Auth), true, false, false),
        (404, Some(S::Auth), false, true, false),
        (413, Some(S::Auth), false, true, false),
        (422, Some(S::Auth), false, true, false),
        (429, Some(S::Auth), false, true, false),
        (429, Some(S::Auth), true, false, false),
        (400, Some(S::BadRequest), false, false, false),
        (404, Some(S::BadRequest), false, false, true),
        (405, Some(S::BadRequest), false, false, true),
        (403, Some(S::ContextExceeded), false, false, false),
    ] {
        let ending = Ending::Status {
            status: code,
            signature,
            certain,
            retry_after: None,
            names_added_field: false,
        };
        let said = (is_suspicion(&ending), is_of_this_rung(&ending));
        assert_eq!(said, (suspected, elsewhere), "{ending:?}");
    }
    for certain in [true, false] {
        let event = Ending::ErrorEvent { signature: Some(S::Auth), certain, retry_after: None };
        assert_eq!(is_suspicion(&event), !certain);
    }
}
