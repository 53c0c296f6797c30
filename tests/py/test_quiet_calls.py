"""Calls that take long and are not streams, as the official SDKs make them."""

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
    yield clients
    for one in (*clients, relay, upstream):
        one.close()


def test_the_sdks_find_the_requests_id(quiet):
    assert all(found.startswith("req_") for found in whole(*quiet))
