"""The official SDKs on a stream; those for OpenAI in either version."""

KEY = "none"


def turns(words):
    """What the user says."""
    return [{"role": "user", "content": words}]


def openai_client(url):
    import openai

    return openai.OpenAI(base_url=f"{url}/v1", api_key=KEY)


def anthropic_client(url):
    import anthropic

    return anthropic.Anthropic(base_url=url, api_key=KEY)


def chat(url, words, say):
    """As most applications read it: every chunk has a choice, and a choice a delta."""
    asked = {"model": "chat", "messages": turns(words)}
    for one in openai_client(url).chat.completions.create(**asked, stream=True):
        say(one.choices[0].delta.content or "")


def chat_helper(url, words, say):
    with openai_client(url).chat.completions.stream(model="chat", messages=turns(words)) as stream:
        for event in stream:
            if event.type == "content.delta":
                say(event.delta)


def responses(url, words, say):
    asked = {"model": "chat", "input": words, "store": False}
    for event in openai_client(url).responses.create(**asked, stream=True):
        if event.type == "response.output_text.delta":
            say(event.delta)


def responses_helper(url, words, say):
    with openai_client(url).responses.stream(model="chat", input=words, store=False) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                say(event.delta)


def messages(url, words, say):
    asked = {"model": "chat", "max_tokens": 64, "messages": turns(words)}
    for event in anthropic_client(url).messages.create(**asked, stream=True):
        if event.type == "content_block_delta":
            say(event.delta.text)


def messages_helper(url, words, say):
    asked = {"model": "chat", "max_tokens": 64, "messages": turns(words)}
    with anthropic_client(url).messages.stream(**asked) as stream:
        for piece in stream.text_stream:
            say(piece)


OPENAI = {
    "chat": chat,
    "chat helper": chat_helper,
    "responses": responses,
    "responses helper": responses_helper,
}
ANTHROPIC = {
    "anthropic": messages,
    "anthropic helper": messages_helper,
}
