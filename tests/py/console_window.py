"""The console's real window under Xvfb: a screen nobody sees, and the keys that are pressed in it."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

import pytest

from harness import Process, belay_binary, eventually

LIMIT = 30.0
# For so long after a dialog the console takes letters for its reason; and some more.
PAUSE = 0.8
# A reason of keys that command nothing: where the dialog does not open, nothing is done instead.
TICKET = "9086"


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


class Window:
    """A running console. Called with keys it presses them; `pressed` has all that were."""

    def __init__(self, display, relays, log, more=()):
        self.env = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1"}
        self.env.pop("WAYLAND_DISPLAY", None)
        self.log = pathlib.Path(log)
        # Nobody's settings, and nobody's desktop to be told of alerts.
        self.env["XDG_CONFIG_HOME"] = f"{log}.config"
        self.env["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
        urls = [getattr(relay, "admin", relay) for relay in relays]
        connect = [word for url in urls for word in ("--connect", url)]
        self.process = Process([str(console_binary()), *connect, *more], log, env=self.env)
        self.pressed = []
        # Its title changes; whose window it is does not.
        wanted = ["--all", "--pid", str(self.process.child.pid), "--name", "Belay"]
        found = eventually(lambda: self.tool("search", *wanted), LIMIT, 0.1)
        if not found:
            self.process.close()
            raise AssertionError(f"no window came up: {self.end()}")
        self.name = found.splitlines()[-1]

    def tool(self, *words):
        found = subprocess.run(["xdotool", *words], env=self.env, capture_output=True, text=True)
        return found.stdout.strip()

    def is_up(self):
        return self.process.child.poll() is None

    def end(self):
        """How it ended, and its last words."""
        return self.process.child.returncode, self.log.read_text(errors="replace")[-2000:]

    def __call__(self, *keys):
        assert self.is_up(), f"the console has ended: {self.end()}"
        # A window that is wholly covered by another one is not drawn and takes no keys.
        self.tool("windowraise", self.name, "windowfocus", self.name)
        for key in keys:
            self.tool("key", key)
            self.pressed.append(key)

    def title(self):
        return self.tool("getwindowname", self.name)

    def sees_trouble(self):
        """Waits until the title says what is wrong: the board is there, and every key counts."""
        assert eventually(lambda: self.title().startswith("▲"), LIMIT, 0.05), self.title()


@contextlib.contextmanager
def window(display, relays, folder, *more, log="console.log"):
    """The console's window on these relays, by their admin addresses or as they are."""
    opened = Window(display, relays, folder / log, more)
    try:
        yield opened
    finally:
        opened.process.close()


def board(relay):
    with urllib.request.urlopen(f"{relay.admin}/admin/v1/board", timeout=10) as answer:
        return json.load(answer)


def watched_by(relay):
    """The consoles that have the relay's feed open."""
    return [who for who in board(relay)["relay"]["operators"] if who["via"].startswith("belay")]


def rung_of(relay, name):
    return next(rung for rung in board(relay)["rungs"] if rung["name"] == name)


def override_of(relay, name):
    override = rung_of(relay, name)["override"]
    return override and override["mode"]


def overrides(relay):
    """Every override in force, by rung."""
    rungs = board(relay)["rungs"]
    return {rung["name"]: rung["override"]["mode"] for rung in rungs if rung["override"]}


def order_of(relay, name):
    ladders = board(relay)["ladders"]
    return next(ladder["order"] for ladder in ladders if ladder["name"] == name)


def actions(relay, kind="change"):
    """What operators did, newest first."""
    return relay.get(f"/admin/v1/actions?kind={kind}")["items"]


def ready(relay, windows=1):
    """Waits until the board is on its way to the screen."""
    seen = lambda: len(watched_by(relay)) >= windows
    assert eventually(seen, LIMIT), "the console never opened the feed"


def try_until(holds, press, *keys):
    """Presses, and again from the start where the window was not ready yet.

    A last Ctrl+Enter is pressed again: nothing is sent before its preview is on the screen.
    """
    for _ in range(5):
        time.sleep(PAUSE)
        press("Escape", "1", *keys)
        for _ in range(8):
            if eventually(holds, 0.5, 0.05):
                return True
            press(*[key for key in keys[-1:] if key == "ctrl+Return"])
    return False


def stays(holds, span, pause=0.1):
    """Whether it holds now and at every look for so many seconds."""
    end = time.monotonic() + span
    while holds():
        if time.monotonic() > end:
            return True
        time.sleep(pause)
    return False
