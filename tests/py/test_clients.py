"""Clients of every kind on a stream with silences in it, so with heartbeats and a stamp.

Each asks once, reads the text once, and takes a stream that broke for an error. The JavaScript
ones are in `tests/js/stream_clients.test.mjs`.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

import clients_openai_2
import clients_openai_3
from client_program import question
from harness import HERE, Relay, Upstream
from scripts import begin, chunk, finish

SILENCE = 0.3
# JSON, for those that ask for it.
WORDS = ('{"text":"one ', "two ", 'three"}')
# The Python of each program. One Python has either version of the OpenAI SDK.
PYTHONS = {
    clients_openai_2: HERE.parent / ".venv-clients" / "bin" / "python",
    clients_openai_3: pathlib.Path(sys.executable),
}
# Neither phones home.
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
# What each raises when the relay says that the stream broke.
ERRORS = {
    "openai 2, chat": "APIError",
    "openai 2, chat helper": "APIError",
    "openai 2, responses": "APIError",
    "openai 2, responses helper": "APIError",
    "openai 3, chat": "APIError",
    "openai 3, chat helper": "APIError",
    "openai 3, responses": "APIError",
    "openai 3, responses helper": "APIError",
    "anthropic": "APIStatusError",
    "anthropic helper": "APIStatusError",
    "langchain-openai": "APIError",
    "langchain-openai, responses": "APIError",
    "langchain-anthropic": "APIStatusError",
    "litellm, openai": "MidStreamFallbackError",
    "litellm, anthropic": "MidStreamFallbackError",
    "instructor, JSON in parts": "InstructorRetryException",
    "Open WebUI's server": "RuntimeError",
    "pydantic-ai, chat": "ModelAPIError",
    "pydantic-ai, responses": "ModelAPIError",
    "pydantic-ai, anthropic": "ModelServerError",
    "openai-agents, chat": "APIError",
    "openai-agents, responses": "APIError",
    "llm": "RuntimeError",
}
# What is left of the text then; two words for those that are not here.
LEFT = {"instructor, JSON in parts": ""}
CLIENTS = [
    (program, package, name)
    for program in PYTHONS
    for package, clients in program.CLIENTS.items()
    for name in clients
]


def slow(call):
    """Silent before the first word, and between two; a broken one is silent again, then cut."""
    time.sleep(SILENCE)
    begin(call)
    first, second, third = (chunk({"content": word}) for word in WORDS)
    call.event(first)
    time.sleep(SILENCE)
    call.event(second)
    if ": broken>" in json.dumps(call.body):
        time.sleep(SILENCE)
        call.cut()
        return
    call.event(third)
    finish(call)


class Clients:
    """A relay, and the programs that ask it; all are started at once, a few at a time."""

    def __init__(self, folder):
        self.upstream = Upstream([slow])
        self.relay = Relay(
            folder,
            {"a": self.upstream},
            ladder="fail_fast = true",
            server='early_headers = "100ms"\nheartbeat = "80ms"',
            rungs={"a": "breaker = { open_consecutive = 1000, min_samples = 10000 }"},
        )
        # They import for longer than they ask.
        self.pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self.programs = {
            (program, package): self.pool.submit(self.run, program, package)
            for program, python in PYTHONS.items()
            if python.is_file()
            for package in program.CLIENTS
        }

    def run(self, program, package):
        """What the clients of a package say of themselves."""
        command = [PYTHONS[program], program.__file__, package, self.relay.url]
        done = subprocess.run(
            command, env={**os.environ, **QUIET}, capture_output=True, text=True, timeout=90
        )
        assert done.returncode == 0, done.stderr
        return {(one["name"], one["kind"]): one for one in json.loads(done.stdout)}

    def answer(self, program, package, name, kind):
        """What a client read, and its error; fails unless it asked once."""
        if (program, package) not in self.programs:
            pytest.skip(f"no {PYTHONS[program]}: tests/run installs it")
        answer = self.programs[program, package].result()[name, kind]
        words = question(name, kind)
        asked = [call for call in self.upstream.calls if words in json.dumps(call.body)]
        assert len(asked) == 1, answer
        return answer["text"], answer["error"]

    def close(self):
        """Stop it."""
        self.pool.shutdown(cancel_futures=True)
        self.relay.close()
        self.upstream.close()


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    one = Clients(tmp_path_factory.mktemp("clients"))
    yield one
    one.close()


def test_the_stream_has_heartbeats_and_a_stamp(clients):
    turns = [{"role": "user", "content": "Count."}]
    asked = json.dumps({"model": "chat", "messages": turns, "stream": True}).encode()
    head = {"content-type": "application/json"}
    request = urllib.request.Request(f"{clients.relay.url}/v1/chat/completions", asked, head)
    with urllib.request.urlopen(request, timeout=10) as answer:
        lines = answer.read().decode().split("\n")
    assert lines.count(":") >= 2, lines
    assert len([line for line in lines if line.startswith(": belay {")]) == 1, lines


@pytest.mark.parametrize(("program", "package", "name"), CLIENTS, ids=[one[2] for one in CLIENTS])
def test_asks_once_and_reads_the_text_once(clients, program, package, name):
    assert clients.answer(program, package, name, "whole") == ("".join(WORDS), None)


@pytest.mark.parametrize(("program", "package", "name"), CLIENTS, ids=[one[2] for one in CLIENTS])
def test_takes_no_part_for_the_whole(clients, program, package, name):
    text, error = clients.answer(program, package, name, "broken")
    assert error and error["type"] == ERRORS[name], error
    assert "not the whole answer" in error["message"]
    assert text == LEFT.get(name, "".join(WORDS[:2]))
