"""The official OpenAI SDK against the relay: what an application sees when a provider is well."""

import asyncio

import openai
import pytest

import scripts

ASK = [{"role": "user", "content": "Say something."}]


def ask(client, **options):
    """A chat call on the ladder."""
    return client.chat.completions.create(**{"model": "chat", "messages": ASK, **options})


def text_of(stream):
    """The whole text of a stream."""
    return "".join(
        chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices
    )


def test_a_stream_arrives_whole(upstream, relay, sdk):
    up = upstream(scripts.answer("Fair ", "winds", "!"))
    chunks = list(ask(sdk(relay({"a": up})), stream=True))
    assert text_of(chunks) == "Fair winds!"
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert {chunk.id for chunk in chunks} == {scripts.ID}
    # Asked of the provider by the relay, for the bill; not by this client, so not shown to it.
    assert up.calls[0].body["stream_options"]["include_usage"] is True
    assert all(chunk.usage is None for chunk in chunks)


def test_a_stream_arrives_whole_in_async(upstream, relay):
    at = relay({"a": upstream(scripts.answer("Fair ", "winds", "!"))})

    async def run():
        async with openai.AsyncOpenAI(base_url=f"{at.url}/v1", api_key="sk-test") as client:
            stream = await ask(client, stream=True)
            return [chunk async for chunk in stream]

    assert text_of(asyncio.run(run())) == "Fair winds!"


def test_the_provider_gets_its_own_key_and_model(upstream, relay, sdk):
    up = upstream(scripts.answer("yes"))
    text_of(ask(sdk(relay({"a": up}), api_key="sk-clients-own"), stream=True))
    call = up.calls[0]
    assert call.headers["authorization"] == "Bearer sk-upstream-secret"
    assert call.body["model"] == "a-model"
    assert call.body["messages"] == ASK
    assert call.headers.get("accept-encoding", "identity") == "identity"


def test_usage_is_given_to_whom_asks(upstream, relay, sdk):
    at = relay({"a": upstream(scripts.answer("one ", "two ", "three"))})
    chunks = list(ask(sdk(at), stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == []
    assert chunks[-1].usage.model_dump(exclude_none=True) == scripts.USAGE
    (row,) = at.requests()
    assert (row["input_tokens"], row["output_tokens"]) == (11, 3)
    assert row["cost_usd"] == pytest.approx(11 * 1e-6 + 3 * 2e-6)


def test_without_streaming_it_is_one_answer(upstream, relay, sdk):
    up = upstream(scripts.answer("Fair ", "winds", "!"))
    answer = ask(sdk(relay({"a": up})))
    assert answer.object == "chat.completion"
    assert answer.choices[0].message.content == "Fair winds!"
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == 14
    # The relay calls upstream with streaming, so that its clocks apply.
    assert up.calls[0].body["stream"] is True


def test_models_are_the_ladders(upstream, relay, sdk):
    at = relay({"a": upstream(scripts.answer("x"))}, ladder='aliases = ["gpt-4o"]')
    client = sdk(at)
    assert "chat" in [model.id for model in client.models.list()]
    assert text_of(ask(client, model="gpt-4o", stream=True)) == "x"
    with pytest.raises(openai.NotFoundError):
        ask(client, model="no-such-ladder", stream=True)


def test_tool_calls_accumulate(upstream, relay, sdk):
    at = relay({"a": upstream(scripts.tools)})
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
             for name in ("weather", "clock")]
    calls = {}
    for chunk in ask(sdk(at), stream=True, tools=tools):
        for delta in chunk.choices[0].delta.tool_calls or []:
            call = calls.setdefault(delta.index, {"id": None, "name": "", "arguments": ""})
            call["id"] = delta.id or call["id"]
            call["name"] += delta.function.name or ""
            call["arguments"] += delta.function.arguments or ""
        reason = chunk.choices[0].finish_reason
    expected = [
        {"id": "call_a", "name": "weather", "arguments": '{"city": "Oslo", "unit": "C"}'},
        {"id": "call_b", "name": "clock", "arguments": '{"zone": "Europe/Oslo"}'},
    ]
    assert [calls[index] for index in sorted(calls)] == expected
    assert reason == "tool_calls"
    whole = ask(sdk(at), tools=tools).choices[0]
    assert whole.finish_reason == "tool_calls"
    assert [
        {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
        for call in whole.message.tool_calls
    ] == expected


def test_the_stream_helper_understands_it(upstream, relay, sdk):
    at = relay({"a": upstream(scripts.answer("Fair ", "winds", gap=0.01), scripts.tools)})
    with sdk(at).chat.completions.stream(model="chat", messages=ASK) as stream:
        kinds = {event.type for event in stream}
        assert stream.get_final_completion().choices[0].message.content == "Fair winds"
    assert {"chunk", "content.delta", "content.done"} <= kinds
    with sdk(at).chat.completions.stream(model="chat", messages=ASK) as stream:
        calls = stream.get_final_completion().choices[0].message.tool_calls
    assert [call.function.name for call in calls] == ["weather", "clock"]


def test_closing_the_stream_stops_the_provider(upstream, relay, sdk):
    import time

    from harness import eventually

    up = upstream(scripts.endless())
    at = relay({"a": up})
    stream = ask(sdk(at), stream=True)
    for _ in range(3):
        next(stream)
    closed = time.monotonic()
    stream.close()
    assert eventually(lambda: up.calls[0].gone_at), "the provider was never hung up on"
    assert up.calls[0].gone_at - closed < 0.2 + 0.1  # the script looks every 20 ms
    (row,) = at.requests()
    assert (row["outcome"], row["cause"]) == ("cancelled", "client_gone")


def test_the_headers_say_who_answered(upstream, relay, sdk):
    at = relay({"a": upstream(scripts.answer("x"))})
    raw = sdk(at).chat.completions.with_raw_response.create(model="chat", messages=ASK)
    assert raw.headers["x-belay-rung"] == "a"
    assert raw.headers["x-belay-attempts"] == "1"
    (row,) = at.requests()
    assert raw.headers["x-belay-request-id"] == row["id"]
