"""The five incidents, each played by keys alone in the console's real window: what the relay has
afterwards, and what its clients get meanwhile."""

import openai
import pytest

import scripts
from console_gate import choose, gate, open_dialog, send  # noqa: F401
from console_relay import BRISK, LONG, PLAIN, ops, refused, silent  # noqa: F401
from console_window import (  # noqa: F401
    LIMIT,
    TICKET,
    actions,
    display,
    order_of,
    override_of,
    overrides,
    ready,
    rung_of,
    stays,
    try_until,
    watched_by,
    window,
)
from harness import eventually


@pytest.fixture
def ask(sdk):
    """A function that asks a relay's ladder; gives what a client reads, or its error's status."""
    clients = {}

    def text(relay, ladder="chat"):
        if relay.url not in clients:
            clients[relay.url] = sdk(relay, max_retries=0)
        try:
            answer = clients[relay.url].chat.completions.create(
                model=ladder, messages=[{"role": "user", "content": "hello"}]
            )
        except openai.APIStatusError as error:
            return error.status_code
        return answer.choices[0].message.content

    return text


def says(name):
    return scripts.answer(f"from {name}")


def turns(upstream, script):
    """From its next call on it does so."""
    upstream.scripts = [script]


def test_a_provider_that_hangs_is_forced_open_and_let_go(
    ops, upstream, ask, gate, display, tmp_path
):
    openai_, vendor = upstream(silent), upstream(says("opus"))
    relay = ops(
        {"openai": openai_, "vendor": vendor},
        {"sol": ("openai", [], LONG), "luna": ("openai", [], LONG), "opus": ("vendor", [], LONG)},
        {"chat": ["sol", "luna", "opus"], "code": ["luna", "opus"]},
        ladder=BRISK,
    )
    seen = gate(relay)
    with window(display, [seen], tmp_path) as press:
        ready(relay)
        # Whoever was let down by a provider tries another one next: each ladder finds its own.
        for ladder in ("chat", "code") * 2:
            assert ask(relay, ladder) == "from opus"
        # While a console is watched the board is a moment old.
        is_open = lambda rung: rung_of(relay, rung)["health"]["state"] == "open"
        assert eventually(lambda: is_open("sol") and is_open("luna"))
        assert overrides(relay) == {}

        # The worst one, all of its provider, done: Tab takes its breaker's reason over.
        open_dialog(press, seen, "g", "o", reason=["Tab"])
        choose(press, seen, "alt+s")
        send(press, seen)
        forced = {"sol": "forced_open", "luna": "forced_open"}
        assert eventually(lambda: overrides(relay) == forced), overrides(relay)
        assert "in a row" in actions(relay)[0]["reason"]
        calls = len(openai_.calls)
        turns(openai_, says("openai"))
        assert ask(relay) == "from opus" and len(openai_.calls) == calls

        open_dialog(press, seen, "g", "a")
        choose(press, seen, "alt+s")
        send(press, seen)
        assert eventually(lambda: overrides(relay) == {}), overrides(relay)
        assert ask(relay) == "from openai"


def test_a_refused_key_is_replaced_and_probed(ops, upstream, ask, display, tmp_path):
    vendor, other = upstream(refused("sk-fresh", says("alpha"))), upstream(says("bravo"))
    key = tmp_path / "key"
    key.write_text("sk-stale\n")
    relay = ops(
        {"vendor": vendor, "other": other},
        {"alpha": ("vendor", [], ""), "bravo": ("other", [], "")},
        {"chat": ["bravo", "alpha"], "code": ["alpha", "bravo"]},
        keys={"vendor": key},
    )
    down = lambda: rung_of(relay, "alpha")["health"]["hard_down"]
    with window(display, [relay], tmp_path) as press:
        ready(relay)
        assert ask(relay, "code") == "from bravo"
        assert eventually(lambda: down() and down()["why"] == "key")
        assert ask(relay, "code") == "from bravo" and len(vendor.calls) == 1, "nobody waits for it"

        # Too early: the next request is the probe, and is refused as well.
        assert try_until(lambda: actions(relay, "probe"), press, "g", "p", "ctrl+Return")
        assert eventually(lambda: not down())
        assert ask(relay, "code") == "from bravo" and len(vendor.calls) == 2
        assert eventually(down), "the probe was refused"

        tag = lambda: next(
            one["key"]["tag"] for one in relay.get("/admin/v1/board")["providers"]
            if one["name"] == "vendor"
        )
        stale = tag()
        key.write_text("sk-fresh\n")
        # Who presses before the relay has read the file has it probed with the old key, which does
        # no harm; afterwards there may be nothing left to end.
        press("Escape", "1", "g", "p", "ctrl+Return")
        assert eventually(lambda: tag() != stale, LIMIT)
        press("Escape", "1", "g", "p", "ctrl+Return")
        assert eventually(lambda: not down(), LIMIT)
        assert ask(relay, "code") == "from alpha"


def test_credit_that_was_paid_comes_back_with_a_probe(ops, upstream, ask, display, tmp_path):
    broke = scripts.error(402, "Insufficient credit.", code="insufficient_quota")
    vendor, other = upstream(broke), upstream(says("bravo"))
    relay = ops(
        {"vendor": vendor, "other": other},
        {"alpha": ("vendor", [], ""), "bravo": ("other", [], "")},
        {"chat": ["alpha", "bravo"]},
    )
    with window(display, [relay], tmp_path) as press:
        ready(relay)
        assert ask(relay) == "from bravo"
        turns(vendor, says("alpha"))
        # Nobody tells the relay that it was paid.
        assert ask(relay) == "from bravo" and len(vendor.calls) == 1
        assert try_until(lambda: actions(relay, "probe"), press, "g", "p", "ctrl+Return")
        assert ask(relay) == "from alpha"


def test_what_is_dear_is_put_behind_and_back(ops, upstream, ask, display, tmp_path):
    names = ["dear", "cheap", "spare"]
    relay = ops(
        {name: upstream(says(name)) for name in names},
        {name: (name, [], "") for name in names},
        {"chat": names},
    )
    with window(display, [relay], tmp_path) as press:
        ready(relay)
        assert (ask(relay), order_of(relay, "chat")) == ("from dear", names)
        wanted = ["cheap", "spare", "dear"]
        behind = lambda: order_of(relay, "chat") == wanted
        # The dear one to the end, further than it goes, and once too often back up.
        moves = ["alt+Down", "alt+Down", "alt+Down", "alt+Up", "alt+Down"]
        keys = ["Down", "Left", "Left", "m", *moves, *TICKET, "ctrl+Return"]
        assert try_until(behind, press, *keys)
        assert ask(relay) == "from cheap"
        assert try_until(lambda: order_of(relay, "chat") == names, press, "u", "ctrl+Return")
        assert ask(relay) == "from dear"
        assert len(actions(relay)) == 1 and len(actions(relay, "undo")) == 1


def region(ops, upstream, ladders, ladder=PLAIN):
    """Two vendors in one region, one of them elsewhere, too."""
    upstreams = {name: upstream(says(name)) for name in ("azure", "aws", "home")}
    relay = ops(
        upstreams,
        {
            "alpha": ("azure", ["one", "us-east"], LONG),
            "other": ("azure", ["two"], LONG),
            "bravo": ("aws", ["three", "us-east"], LONG),
            "charlie": ("home", ["four"], LONG),
        },
        ladders,
        ladder=ladder,
    )
    return relay, upstreams


def test_a_region_is_taken_out_as_a_whole(ops, upstream, ask, gate, display, tmp_path):
    order = ["alpha", "bravo", "charlie", "other"]
    relay, upstreams = region(ops, upstream, {"chat": order}, BRISK)
    seen = gate(relay)
    with window(display, [seen], tmp_path) as press:
        ready(relay)
        assert ask(relay) == "from azure"
        for name in ("azure", "aws"):
            turns(upstreams[name], silent)
        assert [ask(relay) for _ in range(2)] == ["from home"] * 2
        assert overrides(relay) == {}

        # This rung, all of its provider, all of the region: the provider's other rung stays.
        open_dialog(press, seen, "g", "o")
        choose(press, seen, "alt+s", "alt+s")
        send(press, seen)
        forced = {"alpha": "forced_open", "bravo": "forced_open"}
        assert eventually(lambda: overrides(relay) == forced), overrides(relay)
        assert actions(relay)[0]["changes"][0]["domain"] == "us-east"
        calls = [len(upstreams[name].calls) for name in ("azure", "aws")]
        assert ask(relay) == "from home"
        assert [len(upstreams[name].calls) for name in ("azure", "aws")] == calls


def test_a_ladders_last_rung_goes_only_if_that_is_accepted(
    ops, upstream, ask, gate, display, tmp_path
):
    ladders = {"chat": ["alpha", "bravo", "charlie", "other"], "code": ["alpha", "bravo"]}
    relay, _ = region(ops, upstream, ladders)
    seen = gate(relay)
    with window(display, [seen], tmp_path) as press:
        ready(relay)
        assert (ask(relay, "chat"), ask(relay, "code")) == ("from azure", "from azure")
        open_dialog(press, seen, "Up", "Left", "Left", "o")
        choose(press, seen, "alt+s", "alt+s")
        press("ctrl+Return")
        nothing = lambda: overrides(relay) == {} and actions(relay) == []
        assert stays(nothing, 1.0), "the last rung of code went"
        assert ask(relay, "code") == "from azure"
        # It is still asked for in the same dialog.
        choose(press, seen, "alt+a")
        send(press, seen)
        forced = {"alpha": "forced_open", "bravo": "forced_open"}
        assert eventually(lambda: overrides(relay) == forced), overrides(relay)
        [change] = actions(relay)
        assert change["accepted"] == ["code"]
        assert (ask(relay, "chat"), ask(relay, "code")) == ("from home", 503)


def fellows(ops, upstream):
    """Two relays of one env."""
    ups = {name: upstream(says(name)) for name in ("alpha", "bravo")}
    rungs = {name: (name, [], "") for name in ups}
    return [
        ops(ups, rungs, {"chat": list(ups)}, admin=f'name = "{name}"\nenv = "drill"')
        for name in ("one", "two")
    ]


def test_a_relay_that_is_lost_is_told_nothing_later(ops, upstream, ask, display, tmp_path):
    one, two = fellows(ops, upstream)
    with window(display, [one, two], tmp_path) as press:
        ready(one)
        ready(two)
        assert (ask(one), ask(two)) == ("from alpha", "from alpha")
        two.kill()
        forced = lambda: override_of(one, "alpha") == "forced_open"
        assert try_until(forced, press, "Up", "Left", "o", *TICKET, "ctrl+Return")
        assert ask(one) == "from bravo"

        two.start()
        assert eventually(lambda: watched_by(two), LIMIT), "the console never came back to it"
        assert stays(lambda: overrides(two) == {} and actions(two) == [], 2.0)
        assert ask(two) == "from alpha"

        # What is done from now on reaches both of them.
        both = lambda: (override_of(one, "alpha"), override_of(two, "alpha")) == ("demoted",) * 2
        assert try_until(both, press, "Up", "Left", "d", *TICKET, "ctrl+Return")
        assert (ask(one), ask(two)) == ("from bravo", "from bravo")


def test_the_first_relay_is_lost_and_the_other_is_worked(ops, upstream, ask, display, tmp_path):
    one, two = fellows(ops, upstream)
    with window(display, [one, two], tmp_path) as press:
        ready(one)
        ready(two)
        one.kill()
        # By then all that is known of it is old.
        assert stays(lambda: overrides(two) == {}, 6.0)
        assert ask(two) == "from alpha"
        forced = lambda: override_of(two, "alpha") == "forced_open"
        assert try_until(forced, press, "Up", "Left", "o", *TICKET, "ctrl+Return")
        assert ask(two) == "from bravo"
