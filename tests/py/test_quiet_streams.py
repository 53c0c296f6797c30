"""A stream with silences in it, so with heartbeats and a stamp, as the official SDKs read it."""

import time

import anthropic
import openai
import pytest

from harness import Relay, Upstream
from scripts import begin, chunk, finish

SILENCE = 0.4
TURNS = [{"role": "user", "content": "Count."}]


def slow(call):
    """Silent before the first word, and between two."""
    time.sleep(SILENCE)
    begin(call)
    call.event(chunk({"content": "one "}))
    time.sleep(SILENCE)
    call.event(chunk({"content": "two"}))
    finish(call)


def chat(client):
    asked = {"model": "chat", "messages": TURNS}
    chunks = list(client.chat.completions.create(**asked, stream=True))
    # As most applications read it: every chunk has a choice, and a choice a delta.
    yield "".join(one.choices[0].delta.content or "" for one in chunks)
    with client.chat.completions.stream(**asked) as stream:
        yield stream.get_final_completion().choices[0].message.content


def responses(client):
    asked = {"model": "chat", "input": "Count.", "store": False}
    events = client.responses.create(**asked, stream=True)
    yield "".join(one.delta for one in events if one.type == "response.output_text.delta")
    with client.responses.stream(**asked) as stream:
        yield stream.get_final_response().output_text


def messages(client):
    asked = {"model": "chat", "max_tokens": 64, "messages": TURNS}
    events = client.messages.create(**asked, stream=True)
    yield "".join(one.delta.text for one in events if one.type == "content_block_delta")
    with client.messages.stream(**asked) as stream:
        yield "".join(stream.text_stream)


def whole(openai_client, anthropic_client):
    """The SDKs' other calls, each with the id that they found."""
    yield openai_client.chat.completions.create(model="chat", messages=TURNS)._request_id
    yield openai_client.responses.create(model="chat", input="Count.", store=False)._request_id
    yield openai_client.models.retrieve("openai/gpt-4o")._request_id
    asked = {"model": "chat", "messages": TURNS}
    yield anthropic_client.messages.create(max_tokens=64, **asked)._request_id
    yield anthropic_client.messages.count_tokens(**asked)._request_id


@pytest.fixture
def quiet(tmp_path):
    upstream = Upstream([slow])
    server = 'early_headers = "150ms"\nheartbeat = "120ms"'
    ladder = 'fail_fast = true\naliases = ["openai/gpt-4o"]'
    relay = Relay(tmp_path, {"a": upstream}, ladder=ladder, server=server)
    clients = (
        openai.OpenAI(base_url=f"{relay.url}/v1", api_key="none"),
        anthropic.Anthropic(base_url=relay.url, api_key="none"),
    )
    yield upstream, *clients
    for one in (*clients, relay, upstream):
        one.close()


def test_a_stream_with_silences_is_read_once(quiet):
    upstream, openai_client, anthropic_client = quiet
    for read, client in [(chat, openai_client), (responses, openai_client),
                         (messages, anthropic_client)]:
        before = len(upstream.calls)
        assert list(read(client)) == ["one two"] * 2
        assert len(upstream.calls) - before == 2


def test_the_sdks_find_the_requests_id(quiet):
    _, *clients = quiet
    assert all(found.startswith("req_") for found in whole(*clients))
