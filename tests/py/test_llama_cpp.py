"""A real llama.cpp server behind the relay: real tokens, real cancelling, real limits."""

import time

import openai
import pytest

from harness import eventually
from test_openai_sdk import ask, text_of

LONG = 32768


def test_a_chat_streams(llama, relay, sdk):
    at = relay({"local": llama(2048)})
    chunks = list(
        ask(sdk(at), stream=True, max_tokens=40, stream_options={"include_usage": True})
    )
    assert len(text_of(chunks).split()) == 40
    assert [chunk for chunk in chunks if chunk.choices][-1].choices[0].finish_reason == "length"
    assert chunks[-1].usage.completion_tokens == 40
    (row,) = at.requests()
    assert (row["outcome"], row["output_tokens"]) == ("ok", 40)
    assert row["input_tokens"] == chunks[-1].usage.prompt_tokens > 0
    assert row["ttft_ms"] is not None


def test_without_streaming(llama, relay, sdk):
    answer = ask(sdk(relay({"local": llama(2048)})), max_tokens=25)
    assert len(answer.choices[0].message.content.split()) == 25
    assert answer.usage.completion_tokens == 25


def test_the_seed_gives_the_same_answer_through_the_relay(llama, relay, sdk):
    server = llama(2048)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="x") as client:
        direct = text_of(ask(client, stream=True, max_tokens=30, seed=5, temperature=0.7))
    at = relay({"local": server})
    assert text_of(ask(sdk(at), stream=True, max_tokens=30, seed=5, temperature=0.7)) == direct


def test_closing_the_stream_frees_the_slot(llama, relay, sdk):
    server = llama(LONG)
    at = relay({"local": server})
    stream = ask(sdk(at), stream=True, max_tokens=LONG - 200)
    for _ in range(10):
        next(stream)
    assert server.busy() == 1
    stream.close()
    assert eventually(lambda: server.busy() == 0, 1.0), "the slot is still generating"
    (row,) = at.requests()
    assert (row["outcome"], row["cause"]) == ("cancelled", "client_gone")


@pytest.mark.parametrize("stream", [True, False])
def test_a_prompt_over_the_context_is_the_clients_error(llama, relay, sdk, stream):
    at = relay({"local": llama(2048)})
    long = [{"role": "user", "content": "word " * 2000}]
    with pytest.raises(openai.BadRequestError) as caught:
        ask(sdk(at), messages=long, stream=stream, max_tokens=10)
    assert caught.value.code == "context_length_exceeded"
    (row,) = at.requests()
    assert [one["outcome"] for one in at.attempts(row)] == ["context_exceeded"]


def test_a_prompt_over_the_context_goes_to_a_larger_rung(llama, relay, sdk):
    at = relay(
        {"small": llama(2048), "large": llama(LONG)},
        # The small one claims more than it has, so that only its own answer tells.
        rungs={"small": "context = 20000", "large": f"context = {LONG}"},
    )
    long = [{"role": "user", "content": "word " * 2000}]
    assert len(text_of(ask(sdk(at), messages=long, stream=True, max_tokens=10)).split()) == 10
    (row,) = at.requests()
    assert row["answered_by"] == "large"
    assert [one["outcome"] for one in at.attempts(row)] == ["context_exceeded", "ok"]


def test_many_at_once_over_few_slots(llama, relay, sdk):
    """Eight chats on two slots: those that wait in llama.cpp's queue are not taken for dead."""
    import concurrent.futures

    at = relay({"local": llama(2048)})
    client = sdk(at)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        began = time.monotonic()
        texts = list(
            pool.map(lambda _: text_of(ask(client, stream=True, max_tokens=60)), range(8))
        )
    assert [len(text.split()) for text in texts] == [60] * 8
    assert time.monotonic() - began < 20
    assert {row["outcome"] for row in at.requests(8)} == {"ok"}
