"""The console's real window in rough moments: a relay lost in mid-change, two windows at once, a
big board."""

import contextlib
import signal
import sqlite3
import time

import pytest

import scripts
from console_gate import choose, gate, open_dialog, send  # noqa: F401
from console_relay import ops  # noqa: F401
from console_window import (  # noqa: F401
    LIMIT,
    TICKET,
    actions,
    board,
    display,
    override_of,
    overrides,
    ready,
    stays,
    try_until,
    watched_by,
    window,
)
from harness import eventually

HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def pair(ops, upstream):
    """A relay with one ladder of two rungs."""
    ups = {name: upstream(scripts.answer(f"from {name}")) for name in ("alpha", "bravo")}
    return ops(ups, {name: (name, [], "") for name in ups}, {"chat": list(ups)})


def written(relay, count):
    """Waits until the journal has so many actions: the board has them a moment earlier."""

    def rows():
        with contextlib.closing(sqlite3.connect(relay.folder / "belay.db")) as journal:
            return journal.execute("SELECT count(*) FROM actions").fetchone()[0]

    assert eventually(lambda: rows() >= count, LIMIT, 0.05), rows()


def once_back(press, relay):
    """After the relay's return: the console is there, and nothing more comes by itself."""
    assert press.is_up(), press.end()
    assert eventually(lambda: watched_by(relay), LIMIT), "the console never came back"


def test_a_relay_killed_before_a_change_arrives_never_gets_it(pair, gate, display, tmp_path):
    before = gate(pair)
    with window(display, [before], tmp_path) as press:
        ready(pair)
        before.hold()
        open_dialog(press, before, "Up", "Left", "o")
        send(press, before)
        assert before.changes == 1
        pair.kill()
        before.let_go()
        pair.start()
        once_back(press, pair)
        # Neither while it looks the change up nor after.
        assert stays(lambda: before.changes == 1 and actions(pair) == [], 3.0)
        assert overrides(pair) == {}
        # It is done when somebody says so again.
        forced = lambda: override_of(pair, "alpha") == "forced_open"
        assert try_until(forced, press, "Up", "Left", "o", *TICKET, "ctrl+Return")
        assert len(actions(pair)) == 1


def test_a_relay_killed_before_its_answer_arrives_has_the_change_once(
    pair, gate, display, tmp_path
):
    before = gate(pair)
    with window(display, [before], tmp_path) as press:
        ready(pair)
        before.keeps_answers = True
        open_dialog(press, before, "Up", "Left", "o")
        send(press, before)
        assert eventually(lambda: before.answers > 0, LIMIT), "the relay never answered"
        pair.kill()
        before.keeps_answers = False
        pair.start()
        once_back(press, pair)
        assert stays(lambda: before.changes == 1 and len(actions(pair)) <= 1, 3.0)
        # What was answered was written down.
        assert (len(actions(pair)), override_of(pair, "alpha")) == (1, "forced_open")
        # The window works on, on what there is.
        free = lambda: override_of(pair, "alpha") is None
        assert try_until(free, press, "Up", "Left", "a", *TICKET, "ctrl+Return")


@pytest.mark.parametrize("then", ["goes on", "is killed"])
def test_a_relay_that_stops_in_mid_change_has_it_once_or_not_at_all(
    then, pair, gate, display, tmp_path
):
    counted = gate(pair)
    with window(display, [counted], tmp_path) as press:
        ready(pair)
        demoted = lambda: override_of(pair, "alpha") == "demoted"
        assert try_until(demoted, press, "Up", "Left", "d", *TICKET, "ctrl+Return")
        made, sent = len(actions(pair)), counted.changes
        written(pair, made)
        open_dialog(press, counted, "Up", "Left", "o")
        pair.signal(signal.SIGSTOP)
        send(press, counted)
        if then == "goes on":
            pair.signal(signal.SIGCONT)
            forced = lambda: override_of(pair, "alpha") == "forced_open"
            assert eventually(forced, LIMIT)
        else:
            pair.kill()
            pair.start()
            assert demoted(), "it came back without what it had"
        once_back(press, pair)
        made += then == "goes on"
        assert stays(lambda: counted.changes == sent + 1 and len(actions(pair)) == made, 3.0)


def test_two_windows_do_not_take_both_rungs_of_a_ladder(pair, gate, sdk, display, tmp_path):
    gates = [gate(pair), gate(pair)]
    client = sdk(pair)
    with (
        window(display, [gates[0]], tmp_path, log="ana.log") as ana,
        window(display, [gates[1]], tmp_path, log="ben.log") as ben,
    ):
        ready(pair, windows=2)
        assert overrides(pair) == {}
        places = {ana: ["Up", "Left"], ben: ["Up", "Left", "Right"]}
        for who, one in zip((ana, ben), gates):
            open_dialog(who, one, *places[who], "o")
        # Both have pressed the last key before the relay hears of either.
        for who, one in zip((ana, ben), gates):
            one.hold()
            send(who, one)
        assert (gates[0].changes, gates[1].changes, overrides(pair)) == (1, 1, {})
        for one in gates:
            one.let_go()
        assert eventually(lambda: overrides(pair), LIMIT), "neither was done"
        assert stays(lambda: len(overrides(pair)) == 1 and len(actions(pair)) == 1, 2.0)
        [[taken, mode]] = overrides(pair).items()
        left = {"alpha": "bravo", "bravo": "alpha"}[taken]
        assert (mode, gates[0].changes, gates[1].changes) == ("forced_open", 1, 1)
        answer = client.chat.completions.create(model="chat", messages=HELLO)
        assert answer.choices[0].message.content == f"from {left}"

        # Who was refused can do what is not refused: put it last.
        slower = ben if taken == "alpha" else ana
        demoted = lambda: override_of(pair, left) == "demoted"
        [its] = [one for who, one in zip((ana, ben), gates) if who is slower]
        open_dialog(slower, its, *places[slower], "o")
        choose(slower, its, "alt+d")
        send(slower, its)
        assert eventually(demoted), overrides(pair)


def test_the_arrows_reach_the_last_of_seventy_two_rungs(ops, upstream, display, tmp_path):
    one = upstream(scripts.answer("hello"))
    names = [[f"rung-{row}-{place}" for place in range(1, 7)] for row in range(1, 13)]
    relay = ops(
        {f"vendor-{place}": one for place in range(1, 7)},
        {name: (f"vendor-{name[-1]}", [name], "") for row in names for name in row},
        {f"ladder-{row}": rungs for row, rungs in enumerate(names, 1)},
    )
    assert len(board(relay)["rungs"]) == 72 and overrides(relay) == {}
    with window(display, [relay], tmp_path) as press:
        ready(relay)
        home = ["Up"] * 12 + ["Left"] * 6
        keys = [*home, *["Down"] * 11, *["Right"] * 5, "d", *TICKET, "ctrl+Return"]
        assert try_until(lambda: overrides(relay), press, *keys)
        assert overrides(relay) == {"rung-12-6": "demoted"}


def test_a_relay_that_comes_back_is_worked_again(pair, display, tmp_path):
    with window(display, [pair], tmp_path) as press:
        ready(pair)
        demoted = lambda: override_of(pair, "alpha") == "demoted"
        assert try_until(demoted, press, "Up", "Left", "d", *TICKET, "ctrl+Return")
        written(pair, 1)
        pair.kill()
        # Long enough for all of it to be old.
        time.sleep(6.0)
        assert press.is_up(), press.end()
        pair.start()
        assert demoted(), "it came back without what it had"
        once_back(press, pair)
        free = lambda: overrides(pair) == {}
        assert try_until(free, press, "Up", "Left", "a", *TICKET, "ctrl+Return")
        forced = lambda: override_of(pair, "bravo") == "forced_open"
        assert try_until(forced, press, "Up", "Left", "Right", "o", *TICKET, "ctrl+Return")
