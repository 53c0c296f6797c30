"""A gate before a relay's admin address: it can hold changes back, or keep their answers."""

import contextlib
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from console_window import LIMIT, PAUSE, TICKET
from harness import eventually

CHANGE = b"POST /admin/v1/changes"
PREVIEW = b"POST /admin/v1/preview"


class Gate:
    """Carries connections to a relay; `admin` is its near end.

    `changes` counts the changes that came to it, `answers` the answers to them that it kept.
    `previews` counts the answers to what is asked for by opening a dialog or by another choice in it.
    """

    def __init__(self, admin):
        self.far = (urlsplit(admin).hostname, urlsplit(admin).port)
        self.changes = self.answers = self.previews = 0
        self.keeps_answers = False
        self.lock = threading.Lock()
        self.is_open = threading.Event()
        self.is_open.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.admin = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self):
        """From now on changes wait here."""
        self.is_open.clear()

    def let_go(self):
        """They go on."""
        self.is_open.set()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        try:
            far = socket.create_connection(self.far, timeout=10)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        # Whether the last request on this connection was a change; a client reads an answer
        # before it asks again.
        last = {"change": False, "preview": False}
        threading.Thread(target=self._answers, args=(far, near, last), daemon=True).start()
        with contextlib.suppress(OSError):
            while data := near.recv(65536):
                if data.startswith((b"GET ", b"POST ", b"PUT ", b"DELETE ")):
                    last["change"] = data.startswith(CHANGE)
                    last["preview"] = data.startswith(PREVIEW)
                    if last["change"]:
                        with self.lock:
                            self.changes += 1
                        self.is_open.wait(60)
                far.sendall(data)
        self._end(near, far)

    def _answers(self, far, near, last):
        with contextlib.suppress(OSError):
            while data := far.recv(65536):
                if last["change"] and self.keeps_answers:
                    with self.lock:
                        self.answers += 1
                    continue
                near.sendall(data)
                if last["preview"]:
                    last["preview"] = False
                    with self.lock:
                        self.previews += 1
        self._end(near, far)

    @staticmethod
    def _end(*ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self):
        # This wakes the thread that accepts; closing alone would not.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.is_open.set()


@pytest.fixture
def gate():
    """A function that puts a gate before a relay."""
    started = []

    def start(relay):
        started.append(Gate(relay.admin))
        return started[-1]

    yield start
    for one in started:
        one.close()


def open_dialog(press, gate, *keys, reason=TICKET):
    """Presses them until the dialog that they open is there, and the keys of its reason."""
    for _ in range(5):
        time.sleep(PAUSE)
        seen = gate.previews
        press("Escape", "1", *keys)
        if eventually(lambda: gate.previews > seen, 4.0, 0.02):
            press(*reason)
            return
    raise AssertionError("no dialog was opened")


def choose(press, gate, *keys):
    """Presses them in an open dialog, one after the other is heard: each is asked about."""
    for key in keys:
        seen = gate.previews
        press(key)
        assert eventually(lambda: gate.previews > seen, LIMIT, 0.02), f"{key} chose nothing"


def send(press, gate):
    """Sends what the dialog says; a second press finds it sent."""
    before = gate.changes
    for _ in range(5):
        press("ctrl+Return")
        if eventually(lambda: gate.changes > before, 1.0, 0.02):
            return
    raise AssertionError("no change was sent")
