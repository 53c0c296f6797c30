"""Scripts for the upstreams: what a provider sends, well or badly."""

import json
import time

ID = "chatcmpl-up-1"
USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


def chunk(delta, finish=None, **more):
    """A chat completion chunk."""
    return {
        "id": ID,
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "up-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def usage_chunk():
    """The chunk that carries the usage, as OpenAI sends it."""
    return {**chunk({}), "choices": [], "usage": USAGE}


def begin(call):
    """Head and the chunk with the role, which is no token yet."""
    call.head()
    call.event(chunk({"role": "assistant", "content": ""}))


def finish(call, reason="stop"):
    """Finish reason, usage if asked for, terminator, end of body."""
    call.event(chunk({}, reason))
    if (call.body.get("stream_options") or {}).get("include_usage"):
        call.event(usage_chunk())
    call.event("[DONE]")
    call.end()


def answer(*words, gap=0.0):
    """A whole stream with these words."""

    def script(call):
        begin(call)
        for word in words:
            call.event(chunk({"content": word}))
            time.sleep(gap)
        finish(call)

    return script


def cut_after(*words, how="cut"):
    """A stream that breaks after these words: `cut`, `reset`, or `end` (a clean end, no finish)."""

    def script(call):
        begin(call)
        for word in words:
            call.event(chunk({"content": word}))
            time.sleep(0.02)
        getattr(call, how)()

    return script


def error(status, message, headers=(), **fields):
    """An error answer in OpenAI's shape."""

    def script(call):
        body = json.dumps({"error": {"message": message, "type": "x", "param": None, "code": None,
                                     **fields}}).encode()
        lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json",
                 f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers]
        call.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    return script


def endless(gap=0.02):
    """Tokens until the caller hangs up; notes when that was."""

    def script(call):
        begin(call)
        try:
            while True:
                call.event(chunk({"content": "word "}))
                time.sleep(gap)
        except OSError:
            call.gone_at = time.monotonic()
            raise

    return script


def silent_after(*words):
    """These words, then nothing until the caller hangs up; notes when that was."""

    def script(call):
        begin(call)
        for word in words:
            call.event(chunk({"content": word}))
        call.wait_gone()

    return script


def tools(call):
    """Two tool calls, one after the other, their arguments in pieces."""
    begin(call)

    def delta(index, **function):
        extra = {"id": function.pop("id"), "type": "function"} if "id" in function else {}
        call.event(chunk({"tool_calls": [{"index": index, **extra, "function": function}]}))

    delta(0, id="call_a", name="weather", arguments="")
    delta(0, arguments='{"city": "Os')
    delta(0, arguments='lo", "unit"')
    delta(0, arguments=': "C"}')
    delta(1, id="call_b", name="clock", arguments="")
    delta(1, arguments='{"zone": "Europe/Oslo"}')
    finish(call, "tool_calls")
