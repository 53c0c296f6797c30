"""What the official SDKs say, as a provider of each dialect hears it.

The upstreams answer nothing but an error: only what they were asked is looked at.
"""

import pytest

import scripts
from harness import Upstream
from matrix import CLIENTS, DIALECTS, MODELS, Matrix
from talkers import TALKERS, TOOLS, schema

SYSTEM = "You tie knots."
WORDS = "Which knot is this?"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)

URL = f"data:image/png;base64,{PNG}"
# Where each dialect has the system prompt, the words and picture of the user, the tool.
HEARD = {
    "openai-chat": lambda body: (
        body["messages"][0]["content"],
        [part.get("text") or part["image_url"]["url"] for part in body["messages"][1]["content"]],
        body["tools"][0]["function"]["parameters"],
    ),
    "openai-responses": lambda body: (
        body.get("instructions") or body["input"].pop(0)["content"],
        [part.get("text") or part["image_url"] for part in body["input"][0]["content"]],
        body["tools"][0]["parameters"],
    ),
    "anthropic-messages": lambda body: (
        body["system"] if isinstance(body["system"], str) else body["system"][0]["text"],
        [part.get("text") or source(part["source"]) for part in body["messages"][0]["content"]],
        body["tools"][0]["input_schema"],
    ),
    "gemini": lambda body: (
        body["systemInstruction"]["parts"][0]["text"],
        [part.get("text") or inline(part["inlineData"]) for part in body["contents"][0]["parts"]],
        body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"],
    ),
}


def source(one):
    """Anthropic's picture as an address."""
    assert one["type"] == "base64"
    return f"data:{one['media_type']};base64,{one['data']}"


def inline(one):
    """Google's picture as an address."""
    return f"data:{one['mimeType']};base64,{one['data']}"


@pytest.fixture(scope="module")
def listeners():
    """An upstream for each dialect that hears and refuses."""
    ones = {dialect: Upstream([scripts.error(400, "heard")]) for dialect in DIALECTS}
    yield ones
    for one in ones.values():
        one.close()


@pytest.fixture(scope="module")
def deaf(tmp_path_factory, listeners):
    """A relay over them."""
    urls = {dialect: one.url for dialect, one in listeners.items()}
    one = Matrix(tmp_path_factory.mktemp("bodies"), urls)
    yield one
    one.close()


def heard(deaf, listeners, client, dialect, way, turns, **asked):
    """What the upstream was sent."""
    talker = TALKERS[client](deaf.url)
    with pytest.raises(talker.sdk.BadRequestError, match="heard"):
        talker.ask(way, turns, dialect, **asked)
    talker.close()
    return listeners[dialect].calls[-1]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("way", ["whole", "iterate"])
def test_system_prompt_picture_and_tool_arrive(deaf, listeners, client, dialect, way):
    talker = TALKERS[client]
    told = talker.told(None, SYSTEM, talker.pictured(None, WORDS, PNG))
    call = heard(deaf, listeners, client, dialect, way, tools=["weather"], **told)
    field = schema(TOOLS["weather"][0])
    assert HEARD[dialect](call.body) == (SYSTEM, [WORDS, URL], field)
    if dialect == "gemini":
        assert f"/v1beta/models/{MODELS[dialect]}:streamGenerateContent?alt=sse" in call.line
    else:
        assert (call.body["model"], call.body["stream"]) == (MODELS[dialect], True)
    own_key = {"anthropic-messages": "x-api-key", "gemini": "x-goog-api-key"}.get(dialect)
    key = call.headers[own_key] if own_key else call.headers["authorization"]
    assert key.endswith("sk-upstream-secret")
    assert "sk-of-the-sdk" not in str(call.headers)


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_is_kept_by_the_provider(deaf, listeners, client):
    """Elsewhere one has to ask for that; with Responses one has to ask that it be not."""
    turns = [{"role": "user", "content": WORDS}]
    call = heard(deaf, listeners, client, "openai-responses", "whole", turns)
    assert call.body["store"] is False


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_reasoning_is_asked_for_in_the_providers_words(deaf, listeners, client, dialect):
    turns = [{"role": "user", "content": WORDS}]
    body = heard(deaf, listeners, client, dialect, "iterate", turns, thinking=True).body
    said = {
        "openai-chat": lambda: body["reasoning_effort"] in ("low", "medium"),
        "openai-responses": lambda: body["reasoning"]["effort"] in ("low", "medium")
        and body["reasoning"]["summary"] == "auto"
        and body["include"] == ["reasoning.encrypted_content"],
        "anthropic-messages": lambda: body["thinking"]["type"] == "enabled"
        and 1024 <= body["thinking"]["budget_tokens"] < body["max_tokens"],
        "gemini": lambda: body["generationConfig"]["thinkingConfig"]["includeThoughts"] is True,
    }[dialect]
    assert said(), body


@pytest.mark.parametrize("client", ["chat", "messages"])
def test_an_account_without_summaries_is_asked_again_without(tmp_path, client):
    words = "Your organization must be verified to generate reasoning summaries."
    refused = scripts.error(400, words, param="reasoning.summary", code="unsupported_value")
    up = Upstream([refused, scripts.error(400, "heard")])
    at = Matrix(tmp_path, dict.fromkeys(DIALECTS, up.url))
    try:
        turns = [{"role": "user", "content": WORDS}]
        heard(at, {"openai-responses": up}, client, "openai-responses", "whole", turns,
              thinking=True)
    finally:
        at.close()
        up.close()
    first, second = (call.body["reasoning"] for call in up.calls)
    assert first == {**second, "summary": "auto"}
