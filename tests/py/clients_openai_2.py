"""Clients that want version 2 of the OpenAI SDK, and some that take it; see `client_program.py`."""

import json

from client_program import run
from client_sdks import KEY, OPENAI, openai_client, turns


def langchain_openai(url, words, say, **more):
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="chat", base_url=f"{url}/v1", api_key=KEY, **more)
    for piece in model.stream(words):
        say(piece.text)


def langchain_openai_responses(url, words, say):
    langchain_openai(url, words, say, use_responses_api=True, store=False)


def langchain_anthropic(url, words, say):
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model="chat", base_url=url, api_key=KEY, max_tokens=64)
    for piece in model.stream(words):
        say(piece.text)


def litellm_openai(url, words, say, model="openai/chat", base="/v1"):
    import litellm

    asked = {"model": model, "api_base": url + base, "api_key": KEY, "messages": turns(words)}
    for one in litellm.completion(**asked, stream=True):
        say(one.choices[0].delta.content or "")


def litellm_anthropic(url, words, say):
    litellm_openai(url, words, say, "anthropic/chat", "")


def instructor_partial(url, words, say):
    """Objects that grow; the last one is the answer."""
    import instructor
    from pydantic import BaseModel

    class Answer(BaseModel):
        text: str

    client = instructor.from_openai(openai_client(url), mode=instructor.Mode.JSON)
    asked = {"model": "chat", "messages": turns(words), "response_model": Answer}
    *_, last = client.chat.completions.create_partial(**asked)
    say(last.model_dump_json())


async def open_webui(url, words, say):
    """As Open WebUI's server reads: line by line, what is not data left out."""
    import aiohttp

    asked = {"model": "chat", "messages": turns(words), "stream": True}
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{url}/v1/chat/completions", json=asked) as answer:
            async for line in answer.content:
                data = line.decode().removeprefix("data:").strip()
                if not line.startswith(b"data:") or data == "[DONE]":
                    continue
                told = json.loads(data)
                if "error" in told:
                    raise RuntimeError(told["error"]["message"])
                say(told["choices"][0]["delta"].get("content") or "")


CLIENTS = {
    "openai": {f"openai 2, {name}": read for name, read in OPENAI.items()},
    "langchain": {
        "langchain-openai": langchain_openai,
        "langchain-openai, responses": langchain_openai_responses,
        "langchain-anthropic": langchain_anthropic,
    },
    "litellm": {
        "litellm, openai": litellm_openai,
        "litellm, anthropic": litellm_anthropic,
    },
    "instructor": {
        "instructor, JSON in parts": instructor_partial,
    },
    "aiohttp": {
        "Open WebUI's server": open_webui,
    },
}

if __name__ == "__main__":
    run(CLIENTS)
