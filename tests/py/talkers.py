"""The official SDKs behind one face, so that a test can be written once for all of them.

A talker asks in one of three ways: `whole` (one answer), `iterate` (a stream, read event by event
as an application does that builds its answer itself), `helper` (the SDK's own stream helper).
"""

import dataclasses
import json

import anthropic
import httpx2
import openai

import matrix

WAYS = ("whole", "iterate", "helper")
TOOLS = {
    "weather": ("city", "What the weather is like in a city."),
    "clock": ("zone", "What time it is in a time zone."),
}


def schema(field):
    """An object with this one text."""
    return {
        "type": "object",
        "properties": {field: {"type": "string"}},
        "required": [field],
        "additionalProperties": False,
    }


@dataclasses.dataclass
class Answer:
    """What an application learns from an answer, in no SDK's words but for `finish`."""

    text: str
    thoughts: str
    refusal: str | None
    # Each with its id, its tool and its arguments.
    calls: list
    finish: str
    input_tokens: int | None
    output_tokens: int | None
    # Cached, written to a cache, of the input.
    cached: int | None
    # What goes back as the model's turn.
    turn: list


class Talker:
    """An SDK's client, and how many requests it has made."""

    name: str
    sdk: object

    def __init__(self, url, key=matrix.KEY, **options):
        self.sent = 0
        # Reading the certificates of the world takes longer than most of the tests.
        self.http = httpx2.Client(verify=False, event_hooks={"request": [self._count]})
        self.client = self.connect(
            url, {"api_key": key, "timeout": 30.0, "http_client": self.http, **options}
        )

    def _count(self, _request):
        self.sent += 1

    def close(self):
        """End its connections."""
        self.client.close()

    def user(self, *words):
        """A turn of the user's."""
        return [{"role": "user", "content": " ".join(words)}]


class Chat(Talker):
    """`client.chat.completions`."""

    name = "chat"
    sdk = openai
    finishes = {"stop": "stop", "calls": "tool_calls", "length": "length",
                "filter": "content_filter"}

    def connect(self, url, options):
        return openai.OpenAI(base_url=f"{url}/v1", **options)

    def asked(self, turns, ladder, tools=(), thinking=False, limit=None, **more):
        """A request's arguments."""
        asked = {"model": ladder, "messages": turns, **more}
        if tools:
            asked["tools"] = [
                {"type": "function", "function": {
                    "name": name, "description": TOOLS[name][1], "strict": True,
                    "parameters": schema(TOOLS[name][0]),
                }} for name in tools
            ]
        if thinking:
            asked["reasoning_effort"] = "low"
        if limit:
            asked["max_completion_tokens"] = limit
        return asked

    def ask(self, way, turns, ladder, **more):
        """Ask, and read the answer to its end."""
        asked = self.asked(turns, ladder, **more)
        completions = self.client.chat.completions
        if way == "whole":
            return self.read(completions.create(**asked))
        asked["stream_options"] = {"include_usage": True}
        if way == "helper":
            with completions.stream(**asked) as stream:
                return self.read(stream.get_final_completion())
        return self.gather(completions.create(**asked, stream=True))

    def read(self, completion):
        choice, usage = completion.choices[0], completion.usage
        message = choice.message
        details = usage and usage.prompt_tokens_details
        return Answer(
            text=message.content or "",
            thoughts=getattr(message, "reasoning_content", None) or "",
            refusal=message.refusal,
            calls=[(one.id, one.function.name, json.loads(one.function.arguments))
                   for one in message.tool_calls or []],
            finish=choice.finish_reason,
            input_tokens=usage and usage.prompt_tokens,
            output_tokens=usage and usage.completion_tokens,
            cached=details and details.cached_tokens,
            turn=[message],
        )

    def gather(self, stream):
        """By hand: text, calls, and every other field of a delta as it came."""
        message, calls, finish, usage = {"role": "assistant", "content": ""}, {}, None, None
        for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                finish = choice.finish_reason or finish
                delta = choice.delta.model_dump(exclude_none=True)
                for entry in delta.pop("tool_calls", []):
                    call = calls.setdefault(entry.pop("index"), {"function": {"arguments": ""}})
                    function = entry.pop("function", {})
                    call["function"]["arguments"] += function.pop("arguments", "")
                    call["function"].update(function)
                    call.update(entry)
                delta.pop("role", None)
                for key, value in delta.items():
                    message[key] = message[key] + value if key in message else value
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        details = usage.prompt_tokens_details
        return Answer(
            text=message["content"],
            thoughts=message.get("reasoning_content", ""),
            refusal=message.get("refusal"),
            calls=[(one["id"], one["function"]["name"], json.loads(one["function"]["arguments"]))
                   for one in message.get("tool_calls", [])],
            finish=finish,
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cached=details and details.cached_tokens,
            turn=[message],
        )

    def results(self, calls, *outputs):
        """What the tools gave back."""
        return [{"role": "tool", "tool_call_id": call[0], "content": output}
                for call, output in zip(calls, outputs, strict=True)]

    def parse(self, way, turns, ladder, model):
        """Ask for JSON that fits `model`, and have the SDK read it."""
        completions = self.client.chat.completions
        asked = {**self.asked(turns, ladder), "response_format": model}
        if way == "whole":
            return completions.parse(**asked).choices[0].message.parsed
        with completions.stream(**asked) as stream:
            return stream.get_final_completion().choices[0].message.parsed

    def pictured(self, words, png):
        """A turn with a picture."""
        url = {"url": f"data:image/png;base64,{png}"}
        return [{"role": "user", "content": [{"type": "text", "text": words},
                                             {"type": "image_url", "image_url": url}]}]

    def told(self, system, turns):
        """The request with a system prompt."""
        return {"turns": [{"role": "system", "content": system}, *turns]}


class Responses(Talker):
    """`client.responses`, as one uses it without the provider's memory."""

    name = "responses"
    sdk = openai
    finishes = {"stop": "completed", "calls": "completed", "length": "max_output_tokens",
                "filter": "content_filter"}

    def connect(self, url, options):
        return openai.OpenAI(base_url=f"{url}/v1", **options)

    def asked(self, turns, ladder, tools=(), thinking=False, limit=None, **more):
        """A request's arguments."""
        asked = {"model": ladder, "input": turns, "store": False, **more}
        if tools:
            asked["tools"] = [
                {"type": "function", "name": name, "description": TOOLS[name][1], "strict": True,
                 "parameters": schema(TOOLS[name][0])} for name in tools
            ]
        if thinking:
            asked["reasoning"] = {"effort": "low", "summary": "auto"}
            asked["include"] = ["reasoning.encrypted_content"]
        if limit:
            asked["max_output_tokens"] = limit
        return asked

    def ask(self, way, turns, ladder, **more):
        """Ask, and read the answer to its end."""
        asked = self.asked(turns, ladder, **more)
        if way == "whole":
            return self.read(self.client.responses.create(**asked))
        if way == "helper":
            with self.client.responses.stream(**asked) as stream:
                for event in stream:
                    last = event
                # Of one that is incomplete the helper has only the last event.
                if last.type == "response.incomplete":
                    return self.read(last.response)
                return self.read(stream.get_final_response())
        return self.gather(self.client.responses.create(**asked, stream=True))

    def read(self, response):
        thoughts, refusal, calls = "", None, []
        for item in response.output:
            if item.type == "reasoning":
                thoughts += "".join(part.text for part in item.summary)
            elif item.type == "function_call":
                calls.append((item.call_id, item.name, json.loads(item.arguments)))
            else:
                for part in item.content:
                    if part.type == "refusal":
                        refusal = part.refusal
        details = response.incomplete_details
        return Answer(
            text=response.output_text,
            thoughts=thoughts,
            refusal=refusal,
            calls=calls,
            finish=details.reason if details else response.status,
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
            cached=response.usage.input_tokens_details.cached_tokens,
            turn=list(response.output),
        )

    def gather(self, stream):
        """By hand: the deltas must come to what the items and the last event say."""
        text, thoughts, arguments, items, last, number = "", "", {}, [], None, -1
        for event in stream:
            assert event.sequence_number == number + 1
            number = event.sequence_number
            last = event
            if event.type == "response.output_text.delta":
                text += event.delta
            elif event.type == "response.reasoning_summary_text.delta":
                thoughts += event.delta
            elif event.type == "response.function_call_arguments.delta":
                before = arguments.get(event.output_index, "")
                arguments[event.output_index] = before + event.delta
            elif event.type == "response.output_item.done":
                items.append(event.item)
                assert len(items) == event.output_index + 1
        answer = self.read(last.response)
        assert (text, thoughts) == (answer.text, answer.thoughts)
        assert items == last.response.output
        assert [json.loads(arguments[index]) for index in sorted(arguments)] == [
            call[2] for call in answer.calls
        ]
        answer.turn = items
        return answer

    def results(self, calls, *outputs):
        """What the tools gave back."""
        return [{"type": "function_call_output", "call_id": call[0], "output": output}
                for call, output in zip(calls, outputs, strict=True)]

    def parse(self, way, turns, ladder, model):
        """Ask for JSON that fits `model`, and have the SDK read it."""
        asked = {**self.asked(turns, ladder), "text_format": model}
        if way == "whole":
            return self.client.responses.parse(**asked).output_parsed
        with self.client.responses.stream(**asked) as stream:
            return stream.get_final_response().output_parsed

    def pictured(self, words, png):
        """A turn with a picture."""
        return [{"role": "user", "content": [
            {"type": "input_text", "text": words},
            {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{png}"},
        ]}]

    def told(self, system, turns):
        """The request with a system prompt."""
        return {"turns": turns, "instructions": system}


class Messages(Talker):
    """`client.messages` of Anthropic's SDK."""

    name = "messages"
    sdk = anthropic
    finishes = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens",
                "filter": "refusal"}

    def connect(self, url, options):
        return anthropic.Anthropic(base_url=url, **options)

    def asked(self, turns, ladder, tools=(), thinking=False, limit=None, **more):
        """A request's arguments."""
        asked = {"model": ladder, "messages": turns, "max_tokens": limit or 4096, **more}
        if tools:
            asked["tools"] = [
                {"name": name, "description": TOOLS[name][1],
                 "input_schema": schema(TOOLS[name][0])} for name in tools
            ]
        if thinking:
            asked["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        return asked

    def ask(self, way, turns, ladder, **more):
        """Ask, and read the answer to its end."""
        asked = self.asked(turns, ladder, **more)
        if way == "whole":
            return self.read(self.client.messages.create(**asked))
        if way == "helper":
            with self.client.messages.stream(**asked) as stream:
                return self.read(stream.get_final_message())
        return self.gather(self.client.messages.create(**asked, stream=True))

    def read(self, message):
        blocks = message.content
        usage = message.usage
        return Answer(
            text="".join(block.text for block in blocks if block.type == "text"),
            thoughts="".join(block.thinking for block in blocks if block.type == "thinking"),
            refusal=None,
            calls=[(one.id, one.name, one.input) for one in blocks if one.type == "tool_use"],
            finish=message.stop_reason,
            input_tokens=usage.input_tokens + (usage.cache_read_input_tokens or 0)
            + (usage.cache_creation_input_tokens or 0),
            output_tokens=usage.output_tokens,
            cached=usage.cache_read_input_tokens,
            turn=[{"role": "assistant", "content": blocks}],
        )

    def gather(self, stream):
        """By hand, block by block; they must come one after the other."""
        blocks, pieces, message, is_open, ended = [], "", None, False, False
        for event in stream:
            assert not ended
            if event.type == "message_start":
                message = event.message
            elif event.type == "content_block_start":
                assert not is_open and event.index == len(blocks)
                block, pieces, is_open = event.content_block.model_dump(exclude_none=True), "", True
                blocks.append(block)
            elif event.type == "content_block_delta":
                assert is_open and event.index == len(blocks) - 1
                delta = event.delta
                if delta.type == "text_delta":
                    block["text"] += delta.text
                elif delta.type == "thinking_delta":
                    block["thinking"] += delta.thinking
                elif delta.type == "signature_delta":
                    block["signature"] = delta.signature
                elif delta.type == "input_json_delta":
                    pieces += delta.partial_json
            elif event.type == "content_block_stop":
                is_open = False
                if block["type"] == "tool_use":
                    block["input"] = json.loads(pieces or "{}")
            elif event.type == "message_delta":
                message.stop_reason = event.delta.stop_reason
                for key, value in event.usage.model_dump(exclude_none=True).items():
                    setattr(message.usage, key, value)
            elif event.type == "message_stop":
                ended = True
        assert ended and not is_open
        whole = anthropic.types.Message.model_validate(
            {**message.model_dump(exclude_none=True), "content": blocks}
        )
        return dataclasses.replace(
            self.read(whole), turn=[{"role": "assistant", "content": blocks}]
        )

    def results(self, calls, *outputs):
        """What the tools gave back."""
        return [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call[0], "content": output}
            for call, output in zip(calls, outputs, strict=True)
        ]}]

    def parse(self, way, turns, ladder, model):
        """Ask for JSON that fits `model`, and have the SDK read it."""
        asked = {**self.asked(turns, ladder), "output_format": model}
        if way == "whole":
            return self.client.messages.parse(**asked).parsed_output
        with self.client.messages.stream(**asked) as stream:
            return stream.get_final_message().parsed_output

    def pictured(self, words, png):
        """A turn with a picture."""
        source = {"type": "base64", "media_type": "image/png", "data": png}
        return [{"role": "user", "content": [{"type": "text", "text": words},
                                             {"type": "image", "source": source}]}]

    def told(self, system, turns):
        """The request with a system prompt."""
        return {"turns": turns, "system": system}


TALKERS = {talker.name: talker for talker in (Chat, Responses, Messages)}
