"""The console's real window under Xvfb, worked by the keyboard alone, on a real relay."""

import contextlib
import json
import os
import shutil
import subprocess
import urllib.request

import pytest

import scripts
from harness import ROOT, Process, belay_binary, eventually

LIMIT = 30.0


def console_binary():
    return belay_binary().with_name("belay-console")


@pytest.fixture
def display(tmp_path):
    """A screen that nobody sees; its name for DISPLAY."""
    for tool in ("Xvfb", "xdotool"):
        assert shutil.which(tool), f"{tool} is missing: tests/run installs it"
    read, write = os.pipe()
    server = subprocess.Popen(
        # Without -noreset it starts anew whenever its last client leaves, and refuses whoever comes
        # in that moment.
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-noreset"]
        + ["-nolisten", "tcp"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=open(tmp_path / "xvfb.log", "wb"),
    )
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    assert number, "Xvfb did not come up"
    env = {**os.environ, "DISPLAY": f":{number}"}
    asked = ["xdotool", "getdisplaygeometry"]
    up = lambda: subprocess.run(asked, env=env, capture_output=True).returncode == 0
    assert eventually(up, LIMIT, 0.1), (tmp_path / "xvfb.log").read_text()
    yield f":{number}"
    server.terminate()
    server.wait(10)


@contextlib.contextmanager
def window(display, relays, folder):
    """The console's window on these relays; gives a function that presses keys in it."""
    env = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1"}
    env.pop("WAYLAND_DISPLAY", None)
    connect = [word for relay in relays for word in ("--connect", relay.admin)]
    console = Process([str(console_binary()), *connect], folder / "console.log", env=env)

    def tool(*words):
        found = subprocess.run(["xdotool", *words], env=env, capture_output=True, text=True)
        return found.stdout.strip()

    try:
        found = eventually(lambda: tool("search", "--name", "Belay"), LIMIT, 0.1)
        assert found, (folder / "console.log").read_text()
        name = found.splitlines()[-1]

        def press(*keys):
            assert console.child.poll() is None, "the console has ended"
            tool("windowfocus", name)
            for key in keys:
                tool("key", key)

        yield press
    finally:
        console.close()


def board(relay):
    with urllib.request.urlopen(f"{relay.admin}/admin/v1/board", timeout=10) as answer:
        return json.load(answer)


def watched_by(relay):
    """Whether the console has the relay's feed open."""
    return [who for who in board(relay)["relay"]["operators"] if who["via"].startswith("belay")]


def override_of(relay, name):
    rung = next(rung for rung in board(relay)["rungs"] if rung["name"] == name)
    return rung["override"] and rung["override"]["mode"]


def ready(relay):
    """Waits until the board is on its way to the screen."""
    assert eventually(lambda: watched_by(relay), LIMIT), "the console never opened the feed"


def try_until(holds, press, *keys):
    """Presses, and again from the start where the window was not ready yet."""
    for _ in range(5):
        press("Escape", "1", *keys)
        if eventually(holds, 4.0, 0.1):
            return True
    return False


@pytest.fixture
def two(upstream, relay):
    upstreams = {name: upstream(scripts.answer(f"from {name}")) for name in ("alpha", "bravo")}
    return relay(upstreams)


def test_a_rung_is_forced_open_and_let_go_by_the_keyboard(two, display, tmp_path):
    with window(display, [two], tmp_path) as press:
        ready(two)
        press("Escape", "1", "Down", "o", "ctrl+Return")
        # Its breaker gives no reason, and nobody else has.
        assert not eventually(lambda: override_of(two, "alpha"), 2.0)
        forced = lambda: override_of(two, "alpha") == "forced_open"
        assert try_until(forced, press, "Down", "o", *"ticket", "ctrl+Return")
        freed = lambda: override_of(two, "alpha") is None
        assert try_until(freed, press, "Down", "a", *"mended", "ctrl+Return")


def test_the_last_change_is_taken_back_with_u(two, display, tmp_path, sdk):
    ask = {"model": "chat", "messages": [{"role": "user", "content": "hello"}]}
    client = sdk(two)
    assert client.chat.completions.create(**ask).choices[0].message.content == "from alpha"
    with window(display, [two], tmp_path) as press:
        ready(two)
        forced = lambda: override_of(two, "alpha") == "demoted"
        assert try_until(forced, press, "Down", "d", *"ticket", "ctrl+Return")
        assert client.chat.completions.create(**ask).choices[0].message.content == "from bravo"
        assert try_until(lambda: override_of(two, "alpha") is None, press, "u")


def test_without_a_display_it_says_so():
    env = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    found = subprocess.run(
        [str(console_binary()), "--connect", "http://127.0.0.1:1"],
        env=env,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert found.returncode == 1, found
    assert "no display can be reached" in found.stderr, found.stderr
    assert str(ROOT) not in found.stderr and "panicked" not in found.stderr
