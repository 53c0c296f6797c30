"""Fixtures: a relay under test, scripted upstreams, a real llama.cpp server, the official SDKs.

Everything runs on loopback with ports the kernel picks; every process started here is ended here.
`BELAY_BIN` names the relay to test (default: the debug build of this checkout).
"""

import pathlib

import openai
import pytest

from harness import Llama, Relay, Upstream, belay_binary
from matrix import Matrix
from talkers import TALKERS


@pytest.fixture(scope="session", autouse=True)
def _binary():
    """Stop at once, and plainly, when there is no relay to test."""
    path = belay_binary()
    if not path.is_file():
        pytest.exit(f"no relay at {path}: run `cargo build --workspace --bins` first", 2)


@pytest.fixture
def upstream():
    """A function that starts a scripted upstream: `upstream(script, script, ...)`."""
    started = []

    def start(*scripts):
        started.append(Upstream(scripts))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def relay(tmp_path):
    """A function that starts a relay: `relay({"a": upstream}, ladder="...")`."""
    started = []

    def start(upstreams, **settings):
        folder = tmp_path / f"relay{len(started)}"
        folder.mkdir()
        started.append(Relay(folder, upstreams, **settings))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def sdk():
    """A function that makes an OpenAI client as the official docs do: default retries."""
    made = []

    def make(relay, **options):
        options = {"api_key": "sk-test", "timeout": 30.0, **options}
        made.append(openai.OpenAI(base_url=f"{relay.url}/v1", **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def matrix_relay(tmp_path_factory):
    """A relay with a ladder for each dialect, over one mock."""
    one = Matrix(tmp_path_factory.mktemp("matrix"))
    yield one
    one.close()


@pytest.fixture(params=list(TALKERS))
def talker(request, matrix_relay):
    """Each of the official SDKs in turn, as its docs make it: default retries."""
    one = TALKERS[request.param](matrix_relay.url)
    yield one
    one.close()


@pytest.fixture(scope="session")
def model_file(tmp_path_factory) -> pathlib.Path:
    """A tiny model with seeded random weights."""
    import tiny_model

    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    tiny_model.write(str(path))
    return path


@pytest.fixture(scope="session")
def llama(model_file):
    """A function that gives a real llama.cpp server: `llama(context=…)`, started once for each."""
    running = {}

    def get(context):
        if context not in running:
            running[context] = Llama(model_file, context)
        return running[context]

    yield get
    for one in running.values():
        one.close()
