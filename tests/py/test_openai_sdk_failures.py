"""The official OpenAI SDK against the relay when providers fail.

The SDK retries 408, 409, 429 and every 5xx twice by itself; each of these tests leaves that on.
"""

import hashlib
import re
import time

import openai
import pytest

import scripts
from test_openai_sdk import ask, text_of


def read(stream):
    """Read a stream to its exception; gives the text before it, and the exception."""
    text = ""
    with pytest.raises(openai.APIError) as caught:
        for chunk in stream:
            text += chunk.choices[0].delta.content or "" if chunk.choices else ""
    return text, caught.value


def assert_intelligible(error, upstream):
    """A person can read it, and it gives nothing away."""
    message = error.body["message"]
    assert re.search(r"[a-z]+ [a-z]+ [a-z]+", message), f"not a sentence: {message!r}"
    for secret in (str(upstream.port), "127.0.0.1", "sk-upstream-secret"):
        assert secret not in f"{error} {error.body}"


@pytest.mark.parametrize("how", ["cut", "reset", "end"])
def test_a_broken_stream_raises(upstream, relay, sdk, how):
    """`end` is the one the SDK takes for a whole answer when it talks to the provider itself."""
    up = upstream(scripts.cut_after("The ", "answer ", "is ", how=how))
    at = relay({"a": up})
    text, error = read(ask(sdk(at), stream=True))
    assert text == "The answer is "
    assert not isinstance(error, openai.APIConnectionError)
    assert error.message == error.body["message"]
    assert_intelligible(error, up)
    assert error.body["belay"]["outcome"] == "disconnect"
    assert len(up.calls) == 1
    (row,) = at.requests()
    assert row["outcome"] == "failed"
    assert [attempt["outcome"] for attempt in at.attempts(row)] == ["disconnect"]


def test_an_error_in_the_stream_raises(upstream, relay, sdk):
    def script(call):
        scripts.begin(call)
        call.event(scripts.chunk({"content": "The answer "}))
        call.event({"error": {"message": "boom", "type": "server_error", "code": 500}})
        call.end()

    up = upstream(script)
    text, error = read(ask(sdk(relay({"a": up})), stream=True))
    assert text == "The answer "
    assert error.body["belay"]["outcome"] == "stream_error"


def test_a_stall_raises(upstream, relay, sdk):
    up = upstream(scripts.silent_after("The ", "answer "))
    at = relay({"a": up}, ladder='clocks = { ttft = "2s", inter_token = "500ms", total = "20s" }')
    began = time.monotonic()
    text, error = read(ask(sdk(at), stream=True))
    assert text == "The answer "
    assert error.body["belay"]["outcome"] == "stall"
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("stream", [True, False])
def test_a_final_502_is_asked_once(upstream, relay, sdk, stream):
    up = upstream(scripts.error(500, "the machine room is on fire"))
    at = relay({"a": up})
    with pytest.raises(openai.InternalServerError) as caught:
        ask(sdk(at), stream=stream)
    assert caught.value.status_code == 502
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert_intelligible(caught.value, up)
    # A second request of the SDK's would be there by now: its first back-off is under a second.
    time.sleep(1.2)
    (row,) = at.requests()
    assert (row["outcome"], row["status"]) == ("failed", 502)
    # One rung, one retry of the relay's own.
    assert len(up.calls) == 2


def test_a_429_is_retried_by_the_sdk_when_it_is_told_when(upstream, relay, sdk):
    up = upstream(
        scripts.error(429, "slow down", [("Retry-After", "1")]),
        scripts.answer("Here I am"),
    )
    # With no patience the relay does not wait itself; the SDK has to.
    at = relay({"a": up}, ladder='patience = "0s"')
    began = time.monotonic()
    assert text_of(ask(sdk(at), stream=True)) == "Here I am"
    assert 0.9 < time.monotonic() - began < 5
    rows = at.requests(2)
    assert [(row["outcome"], row["status"]) for row in rows] == [("ok", 200), ("failed", 429)]


def test_a_429_with_a_short_wait_is_waited_for(upstream, relay, sdk):
    up = upstream(
        scripts.error(429, "slow down", [("Retry-After", "1")]),
        scripts.answer("Here I am"),
    )
    at = relay({"a": up})
    assert text_of(ask(sdk(at, max_retries=0), stream=True)) == "Here I am"
    (row,) = at.requests()
    assert [one["outcome"] for one in at.attempts(row)] == ["rate_limited", "ok"]


@pytest.mark.parametrize(
    "trouble, outcome",
    [
        (scripts.error(503, "overloaded"), "overloaded"),
        (scripts.error(401, "your key is wrong"), "auth"),
        (scripts.error(429, "slow down", [("Retry-After", "20")]), "rate_limited"),
        (scripts.cut_after(), "junk"),
        (scripts.cut_after(how="end"), "junk"),
    ],
    ids=["503", "401", "429", "cut before the first token", "end before the first token"],
)
def test_failover_is_invisible(upstream, relay, sdk, trouble, outcome):
    bad, good = upstream(trouble), upstream(scripts.answer("Fair ", "winds"))
    at = relay({"bad": bad, "good": good})
    raw = sdk(at).chat.completions.with_raw_response.create(
        model="chat", messages=[{"role": "user", "content": "hello"}], stream=True
    )
    assert raw.headers["x-belay-rung"] == "good"
    assert raw.headers["x-belay-attempts"] == "2"
    assert text_of(raw.parse()) == "Fair winds"
    (row,) = at.requests()
    assert [one["outcome"] for one in at.attempts(row)] == [outcome, "ok"]
    assert (len(bad.calls), len(good.calls)) == (1, 1)


def test_a_silent_provider_is_left(upstream, relay, sdk):
    silent, good = upstream(scripts.silent_after()), upstream(scripts.answer("Fair ", "winds"))
    at = relay(
        {"silent": silent, "good": good},
        ladder='clocks = { ttft = "500ms", inter_token = "5s", total = "20s" }',
    )
    assert text_of(ask(sdk(at), stream=True)) == "Fair winds"
    (row,) = at.requests()
    assert [one["outcome"] for one in at.attempts(row)] == ["ttft_timeout", "ok"]


def test_a_broken_answer_without_streaming_is_mended(upstream, relay, sdk):
    bad = upstream(scripts.cut_after("The ", "answer "))
    at = relay({"bad": bad, "good": upstream(scripts.answer("Fair ", "winds"))})
    assert ask(sdk(at)).choices[0].message.content == "Fair winds"
    (row,) = at.requests()
    assert [one["outcome"] for one in at.attempts(row)] == ["disconnect", "ok"]


def test_a_wrong_request_is_told_in_the_providers_words(upstream, relay, sdk):
    up = upstream(scripts.error(400, "temperature must be at most 2", param="temperature"))
    at = relay({"a": up, "b": upstream(scripts.answer("never"))})
    with pytest.raises(openai.BadRequestError, match="temperature must be at most 2"):
        ask(sdk(at), stream=True, temperature=9)
    (row,) = at.requests()
    assert (row["outcome"], row["status"], row["attempts_made"]) == ("rejected", 400, 1)


def test_a_wrong_client_key_is_an_authentication_error(upstream, relay, sdk):
    digest = hashlib.sha256(b"sk-right").hexdigest()
    up = upstream(scripts.answer("Welcome"))
    at = relay({"a": up}, more=f'[clients.web]\nkey_sha256 = "{digest}"')
    with pytest.raises(openai.AuthenticationError):
        ask(sdk(at, api_key="sk-wrong"), stream=True)
    assert up.calls == []
    assert text_of(ask(sdk(at, api_key="sk-right"), stream=True)) == "Welcome"


def test_a_providers_401_is_not_the_clients(upstream, relay, sdk):
    up = upstream(scripts.error(401, "Incorrect API key provided: sk-upstream-secret"))
    at = relay({"a": up})
    with pytest.raises(openai.InternalServerError) as caught:
        ask(sdk(at), stream=True)
    assert caught.value.status_code == 502
    assert "sk-upstream-secret" not in str(caught.value.body)
