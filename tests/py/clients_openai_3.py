"""Clients that want version 3 of the OpenAI SDK; see `client_program.py`."""

import os
import pathlib
import subprocess
import sys
import tempfile

from client_program import run
from client_sdks import ANTHROPIC, KEY, OPENAI


async def pydantic_ai(words, say, model):
    from pydantic_ai import Agent

    async with Agent(model).run_stream(words) as result:
        async for piece in result.stream_text(delta=True, debounce_by=None):
            say(piece)


async def pydantic_ai_chat(url, words, say):
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{url}/v1", api_key=KEY)
    await pydantic_ai(words, say, OpenAIChatModel("chat", provider=provider))


async def pydantic_ai_responses(url, words, say):
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{url}/v1", api_key=KEY)
    await pydantic_ai(words, say, OpenAIResponsesModel("chat", provider=provider))


async def pydantic_ai_anthropic(url, words, say):
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=url, api_key=KEY)
    await pydantic_ai(words, say, AnthropicModel("chat", provider=provider))


async def openai_agents(url, words, say, kind):
    import agents
    import openai

    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY)
    model = getattr(agents, kind)(model="chat", openai_client=client)
    agent = agents.Agent(name="Counter", model=model)
    async for event in agents.Runner.run_streamed(agent, words).stream_events():
        data = getattr(event, "data", None)
        if getattr(data, "type", None) == "response.output_text.delta":
            say(data.delta)


async def agents_chat(url, words, say):
    await openai_agents(url, words, say, "OpenAIChatCompletionsModel")


async def agents_responses(url, words, say):
    await openai_agents(url, words, say, "OpenAIResponsesModel")


def llm(url, words, say):
    """The command; it says on stderr what went wrong."""
    with tempfile.TemporaryDirectory() as home:
        models = pathlib.Path(home, "extra-openai-models.yaml")
        models.write_text(f"- model_id: chat\n  model_name: chat\n  api_base: {url}/v1\n")
        done = subprocess.run(
            [sys.executable, "-m", "llm", "--model", "chat", "--key", KEY, "--no-log", words],
            env={**os.environ, "LLM_USER_PATH": home},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    say(done.stdout.removesuffix("\n"))
    if done.returncode:
        raise RuntimeError(done.stderr)


CLIENTS = {
    "openai": {f"openai 3, {name}": read for name, read in OPENAI.items()},
    "anthropic": ANTHROPIC,
    "pydantic-ai": {
        "pydantic-ai, chat": pydantic_ai_chat,
        "pydantic-ai, responses": pydantic_ai_responses,
        "pydantic-ai, anthropic": pydantic_ai_anthropic,
    },
    "agents": {
        "openai-agents, chat": agents_chat,
        "openai-agents, responses": agents_responses,
    },
    "llm": {
        "llm": llm,
    },
}

if __name__ == "__main__":
    run(CLIENTS)
