"""A relay in front of `belay mock`, with a ladder for each dialect that the mock speaks.

One relay and one mock serve all tests of a run. A ladder is named after its dialect. What breaks
a rung must not touch other tests: such a test asks for a ladder of its own with `trouble`.
"""

import hashlib
import json
import os
import urllib.request

from harness import Process, belay_binary

KEY = "sk-of-the-sdk"
# The models are those whose proofs the mock insists on.
MODELS = {
    "openai-chat": "gpt-x",
    "anthropic-messages": "claude-x",
    "openai-responses": "gpt-x",
    "gemini": "gemini-3-x",
}
DIALECTS = list(MODELS)
CLIENTS = ("chat", "responses", "messages")
KINDS = ("broken", "held-whole", "held-iterate", "held-helper", "shut")


def trouble(kind, client, dialect):
    """The ladder that only this client may break: `kind` is one of `KINDS`."""
    return f"{kind}-{client}-{dialect}"


def order(**wish):
    """Words that tell the mock what to answer."""
    return f"[[mock {json.dumps(wish)}]]"


def strike(fault):
    """Words that tell the mock what to do wrong: `cut:3`, or an object."""
    return f"[[mock {json.dumps(fault)}]]"


def config(folder, urls, base=""):
    """The relay's config; `urls` maps dialects to their upstreams."""
    parts = [
        '[server]\nlisten = "127.0.0.1:0"',
        '[admin]\nlisten = "127.0.0.1:0"',
        f'[journal]\npath = "{folder}/belay.db"',
        f'[clients.sdk]\nkey_sha256 = "{hashlib.sha256(KEY.encode()).hexdigest()}"',
    ]
    for dialect, url in urls.items():
        # Google and Anthropic are addressed without a version, as their own clients do.
        version = "/v1" if dialect.startswith("openai") else ""
        parts.append(
            f'[providers.{dialect}]\ndialect = "{dialect}"\nbase_url = "{url}{version}"\n'
            'api_key = { env = "UPSTREAM_KEY" }'
        )
        broken = [trouble(kind, client, dialect) for kind in KINDS for client in CLIENTS]
        for name in [dialect, *broken]:
            parts.append(
                f'[rungs.{name}]\nprovider = "{dialect}"\nmodel = "{MODELS[dialect]}"\n'
                "price = { input = 1.0, output = 2.0 }\n"
                "breaker = { open_consecutive = 1000, min_samples = 10000 }"
            )
            parts.append(
                f'[ladders.{name}]\nrungs = ["{name}"]\nfail_fast = true\npatience = "0s"\n'
                'clocks = { ttft = "5s", inter_token = "400ms", total = "20s" }'
            )
    return "\n\n".join(parts) + "\n"


class Matrix:
    """See the module. With `urls` the upstreams are those, and no mock is started."""

    def __init__(self, folder, urls=None):
        self.mock = None
        if urls is None:
            command = [str(belay_binary()), "mock", "--listen", "127.0.0.1:0", "--ttft", "0ms",
                       "--gap", "1ms", "--exit-with-parent"]
            self.mock = Process(command, folder / "mock.log", cwd=folder)
            self.mock_url = self.mock.wait_for("listening on ")
            urls = dict.fromkeys(DIALECTS, self.mock_url)
        path = folder / "belay.toml"
        path.write_text(config(folder, urls))
        self.process = Process(
            [str(belay_binary()), "serve", "--config", str(path)],
            folder / "stderr.log",
            cwd=folder,
            env={**os.environ, "UPSTREAM_KEY": "sk-upstream-secret"},
        )
        try:
            self.url = self.process.wait_for("belay: serving on ")
        except AssertionError:
            self.close()
            raise

    def upstream(self):
        """The last request that the mock has had."""
        with urllib.request.urlopen(self.mock_url + "/mock/requests", timeout=10) as answer:
            return json.load(answer)[-1]

    def close(self):
        """Stop relay and mock."""
        self.process.close()
        if self.mock:
            self.mock.close()
