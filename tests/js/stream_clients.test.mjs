// The SDKs on a stream with silences in it, so with heartbeats and a stamp: each asks once, reads
// the text once, and takes a stream that broke for an error. What reads event streams without an
// SDK is in stream_readers.test.mjs; it needs a window, and the SDKs must not see one.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import * as ai6 from 'ai-6';
import { createOpenAICompatible as compatible6 } from 'ai-6-compatible';
import { createOpenAI as openai6 } from 'ai-6-openai';
import * as ai7 from 'ai-7';
import { createAnthropic as anthropic7 } from 'ai-7-anthropic';
import { createOpenAICompatible as compatible7 } from 'ai-7-compatible';
import { createOpenAI as openai7 } from 'ai-7-openai';
import OpenAI6 from 'openai';
import OpenAI7 from 'openai-7';
import { quiet } from './quiet.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;

const KEY = 'none';
const turns = (words) => [{ role: 'user', content: words }];

// What an official SDK is asked, which of its resources answers, and the text in what it hears.
const CHAT = {
  ask: (words) => ({ messages: turns(words) }),
  from: (sdk) => sdk.chat.completions,
  text: (said) => said.choices[0].delta.content ?? '',
};
const RESPONSES = {
  ask: (words) => ({ store: false, input: words }),
  from: (sdk) => sdk.responses,
  text: (said) => (said.type === 'response.output_text.delta' ? said.delta : ''),
};
const MESSAGES = {
  ask: (words) => ({ max_tokens: 64, messages: turns(words) }),
  from: (sdk) => sdk.messages,
  text: (said) => (said.type === 'content_block_delta' ? said.delta.text : ''),
};

// A client gives the pieces of the text. `way` is `create` or `stream`, the SDK's helper.
const official = (connect, { ask, from, text }, way) => async function* read(url, model, words) {
  const asked = { model, stream: true, ...ask(words) };
  for await (const said of await from(connect(url))[way](asked)) yield text(said);
};
const openai = (SDK) => (url) => new SDK({ apiKey: KEY, baseURL: `${url}/v1` });
const anthropic = (url) => new Anthropic({ apiKey: KEY, baseURL: url });
// The AI SDK does not throw: an error is a part of its stream.
const vercel = (ai, create) => async function* read(url, model, words) {
  const provider = create({ name: 'belay', baseURL: `${url}/v1`, apiKey: KEY });
  const asked = { model: provider(model), messages: turns(words), onError: () => {} };
  for await (const part of ai.streamText(asked).fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') yield part.text;
  }
};

const CLIENTS = {
  'openai 6, chat': official(openai(OpenAI6), CHAT, 'create'),
  'openai 6, chat helper': official(openai(OpenAI6), CHAT, 'stream'),
  'openai 6, responses': official(openai(OpenAI6), RESPONSES, 'create'),
  'openai 6, responses helper': official(openai(OpenAI6), RESPONSES, 'stream'),
  'openai 7, chat': official(openai(OpenAI7), CHAT, 'create'),
  'openai 7, chat helper': official(openai(OpenAI7), CHAT, 'stream'),
  'openai 7, responses': official(openai(OpenAI7), RESPONSES, 'create'),
  'openai 7, responses helper': official(openai(OpenAI7), RESPONSES, 'stream'),
  anthropic: official(anthropic, MESSAGES, 'create'),
  'anthropic helper': official(anthropic, MESSAGES, 'stream'),
  'AI SDK 6, openai-compatible': vercel(ai6, compatible6),
  'AI SDK 6, openai': vercel(ai6, openai6),
  'AI SDK 7, openai-compatible': vercel(ai7, compatible7),
  'AI SDK 7, openai': vercel(ai7, openai7),
  'AI SDK 7, anthropic': vercel(ai7, anthropic7),
};

let at;
before(async () => {
  at = await quiet();
});
after(() => at.close());

describe('SDKs on a stream with silences', { concurrency: true }, () => {
  it('has heartbeats and a stamp', async () => {
    const asked = { model: 'well', stream: true, messages: turns(at.question('nobody')) };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(asked);
    const answer = await fetch(`${at.url}/v1/chat/completions`, { method: 'POST', headers, body });
    const lines = (await answer.text()).split('\n');
    assert(lines.filter((line) => line === ':').length >= 2, lines);
    assert.equal(lines.filter((line) => line.startsWith(': belay {')).length, 1, lines);
  });

  for (const [name, read] of Object.entries(CLIENTS)) {
    const run = async (model) => {
      const words = at.question(name, model);
      let text = '';
      let error = null;
      try {
        for await (const piece of read(at.url, model, words)) text += piece;
      } catch (caught) {
        error = caught;
      }
      assert.equal(at.asked(words), 1, 'requests for one');
      assert.equal(text, 'one two');
      return error;
    };
    it(`${name}: the text once`, async () => {
      assert.ifError(await run('well'));
    });
    it(`${name}: no part for the whole`, async () => {
      assert.match((await run('breaks'))?.message ?? '', /not the whole answer/);
    });
  }
});
