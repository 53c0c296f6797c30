"""A relay for the console's drills: laid out rung by rung, killed and started again."""

import contextlib
import json
import os
import pathlib
import signal
import socket

import pytest

import harness
import scripts
from harness import Process, belay_binary

# One attempt a rung, one after the other: who answers is always the same.
PLAIN = "hedge = { enabled = false }\nretries = 0"
# The same, for a provider that hangs.
BRISK = PLAIN + '\nclocks = { ttft = "800ms" }'
# A breaker that opens soon and stays open while somebody looks at it.
LONG = 'breaker = { open_consecutive = 2, cooldown = "10m", max_cooldown = "10m", jitter = 0.0 }'


def silent(call):
    """Nothing at all until the caller hangs up."""
    call.wait_gone(60.0)


def refused(key, then):
    """401 for every key but this one, which gets `then`."""
    refusal = scripts.error(401, "Incorrect API key provided.", code="invalid_api_key")

    def script(call):
        known = call.headers.get("authorization") == f"Bearer {key}"
        (then if known else refusal)(call)

    return script


class OpsRelay(harness.Relay):
    """A running `belay serve` that outlives its process: `kill`, then `start` at the same addresses.

    `providers` maps a provider to an upstream, `rungs` a rung to its provider, its domains and TOML
    text of its own, `ladders` a ladder to its rungs; `ladder` is TOML text for every ladder, `keys`
    maps a provider to the file its key is read from.
    """

    def __init__(self, folder, providers, rungs, ladders, ladder=PLAIN, keys=None, admin=""):
        self.folder = folder
        self.parts = [f'[journal]\npath = "{folder}/belay.db"']
        self.operators = admin
        self.upstreams = list(providers.values())
        for name, upstream in providers.items():
            key = f'{{ file = "{keys[name]}" }}' if name in (keys or {}) else '{ env = "UP_KEY" }'
            self.parts.append(
                f'[providers.{name}]\ndialect = "openai-chat"\nbase_url = "{upstream.url}/v1"\n'
                f"api_key = {key}"
            )
        for name, (provider, domains, more) in rungs.items():
            said = f"domains = {json.dumps(domains)}\n" if domains else ""
            self.parts.append(
                f'[rungs.{name}]\nprovider = "{provider}"\nmodel = "{name}-model"\n{said}'
                f"price = {{ input = 1.0, output = 2.0 }}\n{more}"
            )
        for name, order in ladders.items():
            self.parts.append(f"[ladders.{name}]\nrungs = {json.dumps(order)}\n{ladder}")
        self.url = self.admin = "http://127.0.0.1:0"
        self.lives = 0
        self.start()

    def start(self):
        """Starts it; after the first time where it was before."""
        listen = [address.removeprefix("http://") for address in (self.url, self.admin)]
        parts = [
            f'[server]\nlisten = "{listen[0]}"',
            f'[admin]\nlisten = "{listen[1]}"\n{self.operators}',
            *self.parts,
        ]
        config = self.folder / "belay.toml"
        config.write_text("\n\n".join(parts) + "\n")
        self.lives += 1
        self.process = Process(
            [str(belay_binary()), "serve", "--config", str(config)],
            self.folder / f"stderr-{self.lives}.log",
            cwd=self.folder,
            env={**os.environ, "UP_KEY": "sk-upstream-secret"},
        )
        try:
            self.url = self.process.wait_for("belay: serving on ")
            self.admin = self.process.wait_for("belay: admin on ")
        except AssertionError:
            self.close()
            raise

    def signal(self, number):
        self.process.child.send_signal(number)

    def kill(self):
        """Ends it without a word."""
        self.signal(signal.SIGKILL)
        self.process.child.wait(10)

    def close(self):
        """Stop it, also where it was stopped in its tracks."""
        if self.process.child.poll() is None:
            self.signal(signal.SIGCONT)
        super().close()


@pytest.fixture
def ops(tmp_path, upstream):
    """A function that starts an `OpsRelay`: `ops(providers, rungs, ladders, ...)`."""
    started = []

    def start(*layout, **settings):
        folder = pathlib.Path(tmp_path / f"ops{len(started)}")
        folder.mkdir()
        started.append(OpsRelay(folder, *layout, **settings))
        return started[-1]

    yield start
    for one in started:
        one.close()
        for up in one.upstreams:
            # A thread that still accepts could take a call that is for the next test's upstream:
            # closing alone does not wake it.
            with contextlib.suppress(OSError):
                up.listener.shutdown(socket.SHUT_RDWR)
