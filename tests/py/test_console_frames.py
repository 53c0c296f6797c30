"""How often the console's real window is drawn: seldom while nothing happens, and never in step with
the requests."""

import http.client
import json
import threading
import time
from urllib.parse import urlsplit

import pytest

import scripts
from console_relay import ops  # noqa: F401
from console_window import board, display, ready, window  # noqa: F401
from harness import eventually

IDLE = 20.0
BUSY = 5.0
RATE = 200


@pytest.fixture
def relay(ops, upstream):
    """One whose upstream answers at once."""
    one = upstream(scripts.answer("hello"))
    return ops({"vendor": one}, {"alpha": ("vendor", [], "")}, {"chat": ["alpha"]})


def frames(file, start, end):
    """How many frames were painted in this span of the wall clock, in seconds."""
    lines = file.read_text().splitlines() if file.exists() else []
    moments = [int(line.split()[0]) / 1000 for line in lines if " " in line]
    return sum(start <= moment < end for moment in moments)


def settled(file):
    """Waits until what the window has to draw at its start is drawn: a second without a frame."""
    quiet = lambda: file.exists() and frames(file, 0, time.time()) > 0 and not frames(
        file, time.time() - 0.5, time.time()
    )
    return eventually(quiet, 10.0, 0.05)


def ask_for(relay, span, stop_at):
    """Asks RATE times a second, spread over a few connections; gives how many were answered."""
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "hello"}]})
    head = {"Content-Type": "application/json", "Authorization": "Bearer sk-test"}
    hands, good = 8, []

    def ask(place):
        connection = http.client.HTTPConnection(urlsplit(relay.url).netloc, timeout=10)
        due = time.monotonic() + place / RATE
        while time.time() < stop_at:
            time.sleep(max(0.0, due - time.monotonic()))
            # Who is late asks at once, and does not make up for what was missed.
            due = max(due, time.monotonic() - 0.1) + hands / RATE
            connection.request("POST", "/v1/chat/completions", body, head)
            answer = connection.getresponse()
            answer.read()
            good.append(answer.status == 200)
        connection.close()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(hands)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(good)
    return len(good)


def test_an_idle_relay_is_drawn_seldom(relay, display, tmp_path):
    file = tmp_path / "frames"
    with window(display, [relay], tmp_path, "--frames", str(file)) as press:
        ready(relay)
        settled(file)
        start = time.time()
        time.sleep(IDLE)
        count = frames(file, start, start + IDLE)
        print(f"{count} frames in {IDLE} s of nothing")
        assert count <= 2 * IDLE, f"{count} frames in {IDLE} s"
        # It is awake all the same.
        before = time.time()
        press("2")
        assert eventually(lambda: frames(file, before, time.time()), 5.0), "no frame for a key"


def test_two_hundred_requests_a_second_are_not_two_hundred_frames(relay, display, tmp_path):
    file = tmp_path / "frames"
    with window(display, [relay], tmp_path, "--frames", str(file)) as press:
        ready(relay)
        settled(file)
        start = time.time()
        asked = ask_for(relay, BUSY, start + BUSY)
        end = time.time()
        count = frames(file, start, end)
        print(f"{asked} requests, {count} frames in {end - start:.1f} s")
        assert asked > 5 * 20 * BUSY / 2, f"only {asked} requests: no load to speak of"
        assert 0 < count < 20 * (end - start), f"{count} frames in {end - start:.1f} s"
        assert press.is_up()


def listed(file, since):
    """The largest number of requests on a frame that was drawn after `since`."""
    lines = [line.split() for line in file.read_text().splitlines()]
    rows = [int(line[2]) for line in lines if len(line) == 3 and int(line[0]) / 1000 >= since]
    return max(rows, default=0)


def test_a_request_is_on_the_list_soon_without_a_touch(relay, display, tmp_path):
    file = tmp_path / "frames"
    with window(display, [relay], tmp_path, "--frames", str(file)) as press:
        ready(relay)
        settled(file)
        # All of them, followed. The first one tells that the list is there.
        following = False
        for _ in range(5):
            press("Escape", "2", "f", "Left")
            ask_for(relay, 0.1, time.time() + 0.1)
            if eventually(lambda: listed(file, 0), 4.0, 0.05):
                following = True
                break
        assert following, "the list never had a request"
        press("f")
        settled(file)
        before = listed(file, time.time() - 60)
        start = time.time()
        asked = ask_for(relay, 0.02, start + 0.02)
        more = lambda: listed(file, start) >= before + asked
        assert eventually(more, 5.0, 0.01), (before, asked, listed(file, start))
        print(f"on the screen {time.time() - start:.2f} s after it was asked")
