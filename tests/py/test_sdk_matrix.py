"""Every official SDK against providers of every dialect, when all is well."""

import contextlib

import anthropic
import openai
import pydantic
import pytest

from matrix import DIALECTS, order
from talkers import TOOLS, WAYS, Messages

OSLO = {"name": "weather", "arguments": {"city": "Oslo"}}
NOON = {"name": "clock", "arguments": {"zone": "Europe/Oslo"}}

pytestmark = pytest.mark.parametrize("dialect", DIALECTS)
each_way = pytest.mark.parametrize("way", WAYS)


@each_way
def test_a_text_arrives_with_its_usage(talker, dialect, way):
    words = order(text="Fair winds and a following sea.", cached_tokens=20)
    answer = talker.ask(way, talker.user("Say something.", words), dialect)
    assert answer.text == "Fair winds and a following sea."
    assert (answer.thoughts, answer.calls) == ("", [])
    assert answer.finish == talker.finishes["stop"]
    # The mock counts the input with the cache, and one token for each word.
    assert answer.cached == 20
    assert answer.input_tokens > 20
    assert answer.output_tokens == 6


@each_way
@pytest.mark.parametrize("wished", [[OSLO], [OSLO, NOON], [OSLO, OSLO]],
                         ids=["one", "two", "twins"])
def test_calls_arrive_whole(talker, dialect, way, wished):
    turns = talker.user("What is it like?", order(calls=wished))
    answer = talker.ask(way, turns, dialect, tools=list(TOOLS))
    assert [{"name": name, "arguments": given} for _, name, given in answer.calls] == wished
    ids = {call[0] for call in answer.calls}
    assert len(ids) == len(wished) and all(ids)
    assert answer.finish == talker.finishes["calls"]


@each_way
@pytest.mark.parametrize("thinking", [False, True], ids=["plain", "thinking"])
def test_a_conversation_with_tools_goes_on(talker, dialect, way, thinking):
    """Twice round: the second answer's proofs have to stand beside the first one's."""
    asked = {"tools": list(TOOLS), "thinking": thinking}
    wish = {"reasoning": "Which city? Oslo."} if thinking else {}
    turns = talker.user("What is it like in Oslo?", order(calls=[OSLO, NOON], **wish))
    first = talker.ask(way, turns, dialect, **asked)
    assert first.thoughts == wish.get("reasoning", "")
    again = order(calls=[OSLO], **({"reasoning": "Again."} if thinking else {}))
    turns += first.turn + talker.results(first.calls, "7 degrees", f"noon {again}")
    second = talker.ask(way, turns, dialect, **asked)
    assert [call[1] for call in second.calls] == ["weather"]
    assert {call[0] for call in first.calls}.isdisjoint(call[0] for call in second.calls)
    last = order(text="Mild, at noon.", **({"reasoning": "Mild."} if thinking else {}))
    turns += second.turn + talker.results(second.calls, f"8 degrees {last}")
    third = talker.ask(way, turns, dialect, **asked)
    assert third.text == "Mild, at noon."
    assert third.thoughts == ("Mild." if thinking else "")
    assert third.finish == talker.finishes["stop"]
    # And on with words only, all that was said still in the history.
    turns += third.turn + talker.user("Thanks.", order(text="Gladly."))
    assert talker.ask(way, turns, dialect, **asked).text == "Gladly."


@each_way
def test_reasoning_is_shown_where_the_sdk_has_a_place_for_it(talker, dialect, way):
    words = order(text="Seven.", reasoning="Is it eight? No, seven.")
    answer = talker.ask(way, talker.user("Count.", words), dialect, thinking=True)
    assert (answer.thoughts, answer.text) == ("Is it eight? No, seven.", "Seven.")


def test_an_application_that_keeps_no_proofs_is_answered_all_the_same(talker, dialect):
    """Histories written by hand, or begun at another provider."""
    turns = talker.user("What is it like in Oslo?")
    calls = [("call_1", "weather", {"city": "Oslo"})]
    bare = {
        "chat": [{"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function",
             "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}]}],
        "responses": [{"type": "function_call", "call_id": "call_1", "name": "weather",
                       "arguments": '{"city": "Oslo"}'}],
        "messages": [{"role": "assistant", "content": [
            {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Oslo"}}]}],
    }[talker.name]
    turns += bare + talker.results(calls, f"7 degrees {order(text='Mild.')}")
    answer = talker.ask("whole", turns, dialect, tools=list(TOOLS))
    assert answer.text == "Mild."
    if talker.name != "messages" or dialect != "anthropic-messages":
        # There the rule is the provider's own, and the client's to keep.
        answer = talker.ask("iterate", turns, dialect, tools=list(TOOLS), thinking=True)
        assert answer.text == "Mild."


class Knot(pydantic.BaseModel):
    """What the answer is to be."""

    name: str
    turns: int
    slips: bool


@pytest.mark.parametrize("way", ["whole", "helper"])
def test_json_is_parsed_by_the_sdk(talker, dialect, way):
    knot = talker.parse(way, talker.user("Which knot?"), dialect, Knot)
    assert knot == Knot(name="rope", turns=7, slips=True)


def raises(talker, way, error):
    """OpenAI's chat helper has an exception for an answer that is not whole; the others none."""
    if (talker.name, way) == ("chat", "helper"):
        return pytest.raises(error)
    return contextlib.nullcontext()


@each_way
def test_a_limit_is_told_as_one(talker, dialect, way):
    """16 is the least that Responses take."""
    with raises(talker, way, openai.LengthFinishReasonError):
        answer = talker.ask(way, talker.user("Tell me a story."), dialect, limit=16)
        assert answer.finish == talker.finishes["length"]
        assert answer.text.startswith("This is")
        assert answer.output_tokens == 16


@each_way
def test_a_filter_is_told_as_one(talker, dialect, way):
    with raises(talker, way, openai.ContentFilterFinishReasonError):
        words = order(text="So far and", finish="content_filter")
        answer = talker.ask(way, talker.user("Tell me.", words), dialect)
        assert answer.finish == talker.finishes["filter"]
        assert answer.text == "So far and"


@each_way
def test_a_refusal_is_no_answer(talker, dialect, way):
    """OpenAI's dialects have words of their own for it; the others have only an ending."""
    tells = dialect.startswith("openai") and talker.sdk is openai
    with contextlib.nullcontext() if tells else raises(
        talker, way, openai.ContentFilterFinishReasonError
    ):
        answer = talker.ask(way, talker.user("Tell me.", order(finish="refusal")), dialect)
        if tells:
            assert answer.refusal == "I'm sorry, but I can't help with that."
            assert (answer.text, answer.finish) == ("", talker.finishes["stop"])
        else:
            assert answer.finish == talker.finishes["filter"]


def test_anthropics_tool_runner_runs(matrix_relay, dialect):
    """It first asks for a conversation that the provider keeps, and must do without."""
    talker = Messages(matrix_relay.url)
    asked = []

    @anthropic.beta_tool
    def weather(city: str) -> str:
        """What the weather is like in a city."""
        asked.append(city)
        return f"7 degrees {order(text='Mild.')}"

    for stream in (False, True):
        runner = talker.client.beta.messages.tool_runner(
            model=dialect, max_tokens=4096, tools=[weather], stream=stream,
            thinking={"type": "enabled", "budget_tokens": 1024},
            messages=talker.user("What is it like?", order(calls=[OSLO], reasoning="Hm.")),
        )
        assert runner.until_done().content[-1].text == "Mild."
    assert asked == ["Oslo", "Oslo"]
    talker.close()
