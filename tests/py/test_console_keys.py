"""Keys in the console's real window mean what they say, however fast they come."""

import signal
import time

import pytest

import scripts
from console_gate import choose, gate, open_dialog, send  # noqa: F401
from console_relay import ops, refused  # noqa: F401
from console_window import (  # noqa: F401
    LIMIT,
    PAUSE,
    TICKET,
    actions,
    display,
    overrides,
    ready,
    try_until,
    window,
)
from harness import eventually


@pytest.fixture
def three(ops, upstream):
    """A relay whose one provider has two rungs and refuses its key, and another that is well."""
    refuses, well = upstream(refused("sk-none", None)), upstream(scripts.answer("from charlie"))
    return ops(
        {"vendor": refuses, "other": well},
        {"alpha": ("vendor", [], ""), "bravo": ("vendor", [], ""), "charlie": ("other", [], "")},
        {"chat": ["alpha", "bravo", "charlie"], "code": ["bravo", "charlie"]},
    )


@pytest.fixture
def ill(three, sdk):
    """The same, after both rungs were tried."""
    hello = [{"role": "user", "content": "hello"}]
    for ladder in ("chat", "code"):
        answer = sdk(three).chat.completions.create(model=ladder, messages=hello)
        assert answer.choices[0].message.content == "from charlie"
    assert overrides(three) == {}
    return three


FORCED = {"alpha": "forced_open", "bravo": "forced_open"}
FIVE = ["g", "o", "alt+s", "Tab", "ctrl+Return"]


def in_one_go(press, *keys):
    """Presses them while the window is busy: it finds them all at once."""
    process = press.process.child
    process.send_signal(signal.SIGSTOP)
    try:
        press(*keys)
    finally:
        process.send_signal(signal.SIGCONT)


def test_five_keys_from_a_cold_window_to_a_provider_forced_open(ill, gate, display, tmp_path):
    counted = gate(ill)
    with window(display, [counted], tmp_path) as press:
        press.sees_trouble()
        press(*FIVE[:4])
        # The dialog's own preview, and that of the choice.
        assert eventually(lambda: counted.previews >= 2, LIMIT, 0.02)
        time.sleep(0.3)
        press(FIVE[4])
        assert eventually(lambda: overrides(ill) == FORCED, LIMIT), overrides(ill)
        assert press.pressed == FIVE
        [change] = actions(ill)
        assert change["changes"][0]["provider"] == "vendor"


def test_the_keys_do_the_same_in_one_go(ill, display, tmp_path):
    with window(display, [ill], tmp_path) as press:
        press.sees_trouble()
        # A key that is answered: the window has the keyboard.
        assert try_until(lambda: actions(ill, "probe"), press, "g", "p", "ctrl+Return")
        time.sleep(PAUSE)
        in_one_go(press, "Escape", "g", *FIVE[1:3], *"drill", "ctrl+Return")
        # The first confirmation may come before the preview was on the screen.
        time.sleep(1.0)
        press("ctrl+Return")
        assert eventually(lambda: overrides(ill) == FORCED, 5.0), overrides(ill)
        assert actions(ill)[0]["reason"] == "drill"


def test_a_choice_leaves_no_letter_in_the_reason(three, gate, display, tmp_path):
    counted = gate(three)
    with window(display, [counted], tmp_path) as press:
        ready(three)
        open_dialog(press, counted, "Up", "Left", "o")
        choose(press, counted, "alt+s", "alt+2", "alt+x", "alt+d")
        send(press, counted)
        demoted = {"alpha": "demoted", "bravo": "demoted"}
        assert eventually(lambda: overrides(three) == demoted), overrides(three)
        assert actions(three)[0]["reason"] == TICKET


def test_a_reason_typed_in_one_go_with_its_dialog_is_no_command(three, display, tmp_path):
    with window(display, [three], tmp_path) as press:
        ready(three)
        # Something that `u` would take back.
        before = {"charlie": "demoted"}
        keys = ["Up", "Left", "Left", "Right", "Right", "d", *"drill", "ctrl+Return"]
        assert try_until(lambda: overrides(three) == before, press, *keys)
        time.sleep(PAUSE)
        press("Escape", "1", "Up", "Left", "Left")
        in_one_go(press, "d", *"put", "ctrl+Return")
        time.sleep(1.0)
        press("ctrl+Return")
        after = {"alpha": "demoted", **before}
        done = eventually(lambda: overrides(three) == after, 5.0)
        others = {kind: len(actions(three, kind)) for kind in ("undo", "probe", "check")}
        assert others == {"undo": 0, "probe": 0, "check": 0}, "letters of a reason did that"
        assert done, overrides(three)
        assert actions(three)[0]["reason"] == "put"
