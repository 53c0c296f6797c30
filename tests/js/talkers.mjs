// The official SDKs behind one face. A talker asks in one of three ways: `whole` (one answer),
// `iterate` (a stream, read event by event), `helper` (the SDK's own stream helper).
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { KEY } from './matrix.mjs';

export const WAYS = ['whole', 'iterate', 'helper'];
const TOOLS = { weather: 'city', clock: 'zone' };
const schema = (field) => ({
  type: 'object',
  properties: { [field]: { type: 'string' } },
  required: [field],
  additionalProperties: false,
});
export const KNOT = {
  type: 'object',
  properties: { name: { type: 'string' }, turns: { type: 'integer' }, slips: { type: 'boolean' } },
  required: ['name', 'turns', 'slips'],
  additionalProperties: false,
};
const zip = (calls, outputs) => calls.map((call, n) => [call.id, outputs[n]]);

class Talker {
  sent = 0;

  options(baseURL, key) {
    const count = (...asked) => {
      this.sent += 1;
      return fetch(...asked);
    };
    return { baseURL, apiKey: key, timeout: 30_000, fetch: count };
  }

  user(...words) {
    return [{ role: 'user', content: words.join(' ') }];
  }
}

class Chat extends Talker {
  sdk = OpenAI;
  finishes = { stop: 'stop', calls: 'tool_calls', length: 'length', filter: 'content_filter' };

  constructor(url, key = KEY) {
    super();
    this.client = new OpenAI(this.options(`${url}/v1`, key));
  }

  async ask(way, turns, model, { tools = [], thinking, limit, json, ...more } = {}) {
    const asked = { model, messages: turns, ...more };
    if (tools.length) {
      asked.tools = tools.map((name) => ({
        type: 'function',
        function: { name, strict: true, parameters: schema(TOOLS[name]) },
      }));
    }
    if (thinking) asked.reasoning_effort = 'low';
    if (limit) asked.max_completion_tokens = limit;
    if (json) {
      const json_schema = { name: 'knot', strict: true, schema: KNOT };
      asked.response_format = { type: 'json_schema', json_schema };
    }
    const completions = this.client.chat.completions;
    if (way === 'whole') return this.read(await completions.create(asked));
    asked.stream_options = { include_usage: true };
    if (way === 'helper') {
      return this.read(await completions.stream(asked).finalChatCompletion());
    }
    return this.gather(await completions.create({ ...asked, stream: true }));
  }

  read({ choices: [choice], usage }) {
    const { message } = choice;
    return {
      text: message.content ?? '',
      thoughts: message.reasoning_content ?? '',
      calls: (message.tool_calls ?? []).map((call) => ({
        id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments),
      })),
      finish: choice.finish_reason,
      output: usage.completion_tokens,
      turn: [message],
    };
  }

  async gather(stream) {
    const message = { role: 'assistant', content: '' };
    const calls = [];
    let finish;
    let usage;
    for await (const chunk of stream) {
      usage = chunk.usage ?? usage;
      for (const { delta, finish_reason } of chunk.choices) {
        finish = finish_reason ?? finish;
        for (const { index, function: part, ...entry } of delta.tool_calls ?? []) {
          const call = (calls[index] ??= { function: { arguments: '' } });
          const { arguments: more = '', ...rest } = part ?? {};
          call.function.arguments += more;
          Object.assign(call.function, rest);
          Object.assign(call, entry);
        }
        for (const [key, value] of Object.entries(delta)) {
          if (key === 'role' || key === 'tool_calls' || value === null) continue;
          message[key] = Array.isArray(value)
            ? [...(message[key] ?? []), ...value]
            : (message[key] ?? '') + value;
        }
      }
    }
    if (calls.length) message.tool_calls = calls;
    return this.read({ choices: [{ message, finish_reason: finish }], usage });
  }

  results(calls, ...outputs) {
    return zip(calls, outputs).map(([tool_call_id, content]) => ({
      role: 'tool', tool_call_id, content,
    }));
  }
}

class Responses extends Talker {
  sdk = OpenAI;
  finishes = { stop: 'completed', calls: 'completed', length: 'max_output_tokens',
    filter: 'content_filter' };

  constructor(url, key = KEY) {
    super();
    this.client = new OpenAI(this.options(`${url}/v1`, key));
  }

  async ask(way, turns, model, { tools = [], thinking, limit, json, ...more } = {}) {
    const asked = { model, input: turns, store: false, ...more };
    if (tools.length) {
      asked.tools = tools.map((name) => ({
        type: 'function', name, strict: true, parameters: schema(TOOLS[name]),
      }));
    }
    if (thinking) {
      asked.reasoning = { effort: 'low', summary: 'auto' };
      asked.include = ['reasoning.encrypted_content'];
    }
    if (limit) asked.max_output_tokens = limit;
    if (json) {
      asked.text = { format: { type: 'json_schema', name: 'knot', strict: true, schema: KNOT } };
    }
    const responses = this.client.responses;
    if (way === 'whole') return this.read(await responses.create(asked));
    if (way === 'helper') {
      const answer = this.read(await responses.stream(asked).finalResponse());
      // OpenAI itself refuses what its helper adds; elsewhere the relay knows better.
      if (model === 'openai-responses') {
        for (const item of answer.turn) delete item.parsed_arguments;
      }
      return answer;
    }
    return this.gather(await responses.create({ ...asked, stream: true }));
  }

  read(response) {
    const { output, usage, status, incomplete_details: cut } = response;
    const of = (type) => output.filter((item) => item.type === type);
    const texts = of('message').flatMap((item) => item.content);
    return {
      text: texts.map((part) => part.text ?? '').join(''),
      thoughts: of('reasoning').flatMap((item) => item.summary).map((part) => part.text).join(''),
      calls: of('function_call').map((item) => ({
        id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments),
      })),
      finish: cut?.reason ?? status,
      output: usage.output_tokens,
      turn: output,
    };
  }

  async gather(stream) {
    const items = [];
    let [text, number, last] = ['', -1, null];
    for await (const event of stream) {
      number += 1;
      assert.equal(event.sequence_number, number);
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.output_item.done') items.push(event.item);
      last = event;
    }
    const answer = this.read(last.response);
    assert.equal(answer.text, text);
    assert.deepEqual(items, last.response.output);
    return answer;
  }

  results(calls, ...outputs) {
    return zip(calls, outputs).map(([call_id, output]) => ({
      type: 'function_call_output', call_id, output,
    }));
  }
}

class Messages extends Talker {
  sdk = Anthropic;
  finishes = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', filter: 'refusal' };

  constructor(url, key = KEY) {
    super();
    this.client = new Anthropic(this.options(url, key));
  }

  async ask(way, turns, model, { tools = [], thinking, limit = 4096, json, ...more } = {}) {
    const asked = { model, messages: turns, max_tokens: limit, ...more };
    if (tools.length) {
      asked.tools = tools.map((name) => ({ name, input_schema: schema(TOOLS[name]) }));
    }
    if (thinking) asked.thinking = { type: 'enabled', budget_tokens: 2048 };
    if (json) asked.output_config = { format: { type: 'json_schema', schema: KNOT } };
    const messages = this.client.messages;
    if (way === 'whole') return this.read(await messages.create(asked));
    if (way === 'helper') return this.read(await messages.stream(asked).finalMessage());
    return this.gather(await messages.create({ ...asked, stream: true }));
  }

  read({ content, stop_reason: finish, usage }) {
    const of = (type) => content.filter((block) => block.type === type);
    return {
      text: of('text').map((block) => block.text).join(''),
      thoughts: of('thinking').map((block) => block.thinking).join(''),
      calls: of('tool_use').map(({ id, name, input }) => ({ id, name, arguments: input })),
      finish,
      output: usage.output_tokens,
      turn: [{ role: 'assistant', content }],
    };
  }

  async gather(stream) {
    const content = [];
    let [pieces, message, ended] = ['', null, false];
    for await (const event of stream) {
      assert(!ended);
      const block = content.at(-1);
      if (event.type === 'message_start') {
        message = event.message;
      } else if (event.type === 'content_block_start') {
        assert.equal(event.index, content.length);
        content.push({ ...event.content_block });
        pieces = '';
      } else if (event.type === 'content_block_delta') {
        const { type, ...delta } = event.delta;
        if (type === 'text_delta') block.text += delta.text;
        else if (type === 'thinking_delta') block.thinking += delta.thinking;
        else if (type === 'signature_delta') block.signature = delta.signature;
        else if (type === 'input_json_delta') pieces += delta.partial_json;
      } else if (event.type === 'content_block_stop') {
        if (block.type === 'tool_use') block.input = JSON.parse(pieces || '{}');
      } else if (event.type === 'message_delta') {
        Object.assign(message, event.delta);
        Object.assign(message.usage, event.usage);
      } else if (event.type === 'message_stop') {
        ended = true;
      }
    }
    assert(ended);
    return this.read({ ...message, content });
  }

  results(calls, ...outputs) {
    const content = zip(calls, outputs).map(([tool_use_id, output]) => ({
      type: 'tool_result', tool_use_id, content: output,
    }));
    return [{ role: 'user', content }];
  }
}

export const TALKERS = { chat: Chat, responses: Responses, messages: Messages };
