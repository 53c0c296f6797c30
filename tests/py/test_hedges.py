"""Hedging, seen from the SDK and from llama.cpp: the faster rung answers, the loser stops at once.

Expected to fail until hedging is built; `strict` makes them fail the run once it is, so that this
mark goes.
"""

import openai
import pytest

import scripts
from harness import eventually
from test_openai_sdk import ask, text_of

pytestmark = pytest.mark.xfail(strict=True, reason="hedging is not built yet")

HEDGE = 'hedge = { delay = "250ms" }'
LONG = 32768


@pytest.fixture
def hurried(sdk):
    """A client that does not wait long, so that what is not there yet fails soon."""
    return lambda relay: sdk(relay, timeout=2.0, max_retries=0)


def test_a_hedge_wins_and_the_loser_is_hung_up_on(upstream, relay, hurried):
    silent, good = upstream(scripts.silent_after()), upstream(scripts.answer("Fair ", "winds"))
    at = relay({"silent": silent, "good": good}, ladder=HEDGE)
    raw = hurried(at).chat.completions.with_raw_response.create(
        model="chat", messages=[{"role": "user", "content": "hello"}], stream=True
    )
    assert raw.headers["x-belay-hedged"] == "true"
    assert text_of(raw.parse()) == "Fair winds"
    assert eventually(lambda: silent.calls[0].gone_at, 1.0), "the loser was left generating"
    (row,) = at.requests()
    assert row["hedged"] is True
    attempts = at.attempts(row)
    assert {one["rung"]: (one["kind"], one["outcome"], one["cause"]) for one in attempts} == {
        "silent": ("first", "cancelled", "lost_race"),
        "good": ("hedge", "ok", None),
    }


def test_llama_cpp_answers_as_a_hedge(llama, upstream, relay, hurried):
    server, silent = llama(2048), upstream(scripts.silent_after())
    at = relay({"silent": silent, "local": server}, ladder=HEDGE)
    assert len(text_of(ask(hurried(at), stream=True, max_tokens=20)).split()) == 20
    assert at.requests()[0]["answered_by"] == "local"


def test_having_lost_a_race_llama_cpp_generates_nothing(llama, upstream, relay, hurried):
    """Both slots are taken, so the call waits in llama.cpp's queue and loses to the hedge."""
    server = llama(LONG)
    other = upstream(scripts.answer("Fair ", "winds"))
    at = relay({"local": server, "other": other}, ladder=HEDGE)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="x") as direct:
        hogs = [ask(direct, stream=True, max_tokens=LONG - 200) for _ in range(server.SLOTS)]
        for hog in hogs:
            next(hog)
        try:
            assert eventually(lambda: server.busy() == server.SLOTS)
            text = text_of(ask(hurried(at), stream=True, max_tokens=LONG - 200))
            assert text == "Fair winds"
        finally:
            for hog in hogs:
                hog.close()
    assert eventually(lambda: server.busy() == 0, 2.0), "the loser took a slot"
    (row,) = at.requests()
    lost = at.attempts(row)[0]
    assert (lost["outcome"], lost["cause"]) == ("cancelled", "lost_race")
