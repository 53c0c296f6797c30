"""The console's real window under Xvfb, worked by the keyboard alone, on a real relay."""

import pytest

import scripts
from console_window import (  # noqa: F401
    TICKET,
    display,
    override_of,
    ready,
    try_until,
    window,
)
from harness import eventually


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
        assert try_until(forced, press, "Down", "o", *TICKET, "ctrl+Return")
        freed = lambda: override_of(two, "alpha") is None
        assert try_until(freed, press, "Down", "a", *TICKET, "ctrl+Return")


def test_the_last_change_is_taken_back_with_u(two, display, tmp_path, sdk):
    ask = {"model": "chat", "messages": [{"role": "user", "content": "hello"}]}
    client = sdk(two)
    assert client.chat.completions.create(**ask).choices[0].message.content == "from alpha"
    with window(display, [two], tmp_path) as press:
        ready(two)
        forced = lambda: override_of(two, "alpha") == "demoted"
        assert try_until(forced, press, "Down", "d", *TICKET, "ctrl+Return")
        assert client.chat.completions.create(**ask).choices[0].message.content == "from bravo"
        assert try_until(lambda: override_of(two, "alpha") is None, press, "u", "ctrl+Return")
