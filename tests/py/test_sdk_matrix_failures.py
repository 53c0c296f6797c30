"""Every official SDK against providers of every dialect that fail.

Nothing of the SDKs is set: they retry 408, 409, 429 and every 5xx twice, unless they are told
that it is of no use.
"""

import anthropic
import openai
import pytest

from matrix import CLIENTS, DIALECTS, strike, trouble
from talkers import TALKERS, WAYS

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)
each_way = pytest.mark.parametrize("way", WAYS)


def fail(talker, way, ladder, fault, error, **more):
    """Ask for a failure; gives the exception."""
    with pytest.raises(error) as caught:
        talker.ask(way, talker.user("Say something.", strike(fault)), ladder, **more)
    return caught.value


def message(error):
    """The sentence that the relay or a provider said."""
    body = error.body
    return (body.get("error") or body)["message"]


@each_dialect
@each_way
def test_a_wrong_request_is_told_in_the_providers_words(talker, dialect, way):
    error = fail(talker, way, dialect, "status:400", talker.sdk.BadRequestError)
    assert error.status_code == 400
    said = {"anthropic-messages": "Bad request", "gemini": "Request contains an invalid argument."}
    assert message(error) in (said.get(dialect), "The request could not be processed.")
    assert talker.sent == 1


@each_dialect
def test_a_prompt_that_is_too_long_is_told_as_one(talker, dialect):
    error = fail(talker, "iterate", dialect, "context_exceeded", talker.sdk.BadRequestError)
    if talker.sdk is openai:
        assert error.code == "context_length_exceeded"
    else:
        assert error.type == "invalid_request_error"
    assert talker.sent == 1


@each_way
def test_a_wrong_key_is_the_clients_own_mistake(matrix_relay, way):
    for make in TALKERS.values():
        talker = make(matrix_relay.url, key="sk-wrong")
        with pytest.raises(talker.sdk.AuthenticationError) as caught:
            talker.ask(way, talker.user("Hello."), "openai-chat")
        assert "sk-wrong" not in message(caught.value)
        assert talker.sent == 1
        talker.close()


@each_way
def test_an_unknown_ladder_is_not_found(talker, way):
    with pytest.raises(talker.sdk.NotFoundError) as caught:
        talker.ask(way, talker.user("Hello."), "no-such-ladder")
    assert "/v1/models" in message(caught.value)
    assert talker.sent == 1


@each_dialect
@each_way
@pytest.mark.parametrize("status", [500, 503, 529])
def test_a_provider_that_fails_is_asked_once(talker, dialect, way, status):
    ladder = trouble("broken", talker.name, dialect)
    fault = f"status:{status}"
    if dialect == "gemini":
        # Google's own words have a time to come back, and then the SDK does.
        words = {"code": status, "message": "Try later.", "status": "UNAVAILABLE"}
        fault = {"fault": "status", "status": status, "body": {"error": words}}
    error = fail(talker, way, ladder, fault, talker.sdk.InternalServerError)
    assert error.status_code == (502 if status == 500 else 503)
    assert talker.sent == 1


@each_dialect
def test_a_providers_wrong_key_is_not_the_clients(talker, dialect):
    # The rung is shut from then on.
    ladder = trouble("shut", talker.name, dialect)
    error = fail(talker, "whole", ladder, "status:401", talker.sdk.InternalServerError)
    assert error.status_code == 502
    assert talker.sent == 1


@each_dialect
@each_way
def test_a_full_provider_says_when_to_come_back(talker, dialect, way):
    """300 s is longer than an SDK should sleep: it is told not to retry."""
    fault = {"fault": "status", "status": 429, "retry_after": "300"}
    ladder = trouble(f"held-{way}", talker.name, dialect)
    error = fail(talker, way, ladder, fault, talker.sdk.RateLimitError)
    assert error.status_code == 429
    assert int(error.response.headers["retry-after"]) <= 300
    assert talker.sent == 1


@each_dialect
@each_way
@pytest.mark.parametrize("fault", ["cut:3", "stall:3", "end_early:3", "error_frame:3"])
def test_a_part_is_never_an_answer(talker, dialect, way, fault):
    ladder = trouble("broken", talker.name, dialect)
    # What is in a stream that began well is each SDK's plainest exception; never a connection's.
    error = fail(talker, way, ladder, fault, talker.sdk.APIError)
    assert not isinstance(error, talker.sdk.APIConnectionError)
    if way == "whole":
        assert isinstance(error, talker.sdk.InternalServerError)
        assert error.status_code == 504 if fault == "stall:3" else 502
    elif talker.sdk is anthropic:
        assert error.status_code == 200
    assert len(message(error).split()) > 4
    assert talker.sent == 1


@each_dialect
@pytest.mark.parametrize("way", ["iterate", "helper"])
def test_a_call_that_breaks_off_is_never_made(talker, dialect, way):
    ladder = trouble("broken", talker.name, dialect)
    fault = {"fault": "cut", "after": 3, "calls": [{"name": "weather", "arguments":
                                                    {"city": "Oslo, which is in Norway"}}]}
    if dialect == "gemini":
        # There a call comes whole or not at all: it breaks off before it.
        fault["text"] = "Let me see what"
    fail(talker, way, ladder, fault, talker.sdk.APIError, tools=["weather"])
    assert talker.sent == 1


@each_dialect
@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_dialect_has_no_words_for_is_named(matrix_relay, client, dialect):
    """A field that only the client's own dialect has is refused, never dropped."""
    talker = TALKERS[client](matrix_relay.url)
    field, value, own = {
        "chat": ("n", 2, "openai-chat"),
        "responses": ("background", True, "openai-responses"),
        "messages": ("container", "container_1", "anthropic-messages"),
    }[client]
    asked = talker.user("Hello.")
    if dialect == own:
        assert talker.ask("whole", asked, dialect, **{field: value} if client == "messages" else {})
    else:
        with pytest.raises(talker.sdk.BadRequestError) as caught:
            talker.ask("whole", asked, dialect, **{field: value})
        assert f"'{field}'" in message(caught.value)
        assert talker.sent == 1
    talker.close()


def test_an_old_server_is_asked_again_without_what_the_relay_added(talker):
    turns = talker.user("Say something.", strike("no_stream_options"))
    answer = talker.ask("whole", turns, "openai-chat")
    assert answer.text.startswith("This is mock")
