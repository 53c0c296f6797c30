// Readers of event streams as browsers' frontends use them, each with an application that parses
// every message as JSON, as most do. They see a stream with silences in it, so with heartbeats and
// a stamp; each must ask once, and read the text once.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { EventSource } from 'eventsource';
import { createEventSource } from 'eventsource-client';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { EventSource as ExtendedEventSource } from 'extended-eventsource';
import { events } from 'fetch-event-stream';
import OpenAI from 'openai';
import { parseServerSentEvents } from 'parse-sse';
import { program } from './matrix.mjs';

// What fetch-event-source wants of a browser.
globalThis.window ??= globalThis;
globalThis.document ??= { addEventListener() {}, removeEventListener() {}, hidden: false };

const SILENCE = 400;
const DIALECTS = {
  chat: {
    path: '/v1/chat/completions',
    ask: (words) => ({ messages: [{ role: 'user', content: words }] }),
    text: (data) => data.choices?.[0]?.delta.content ?? '',
    isLast: (data) => data === '[DONE]',
  },
  messages: {
    path: '/v1/messages',
    ask: (words) => ({ max_tokens: 64, messages: [{ role: 'user', content: words }] }),
    text: (data) => data.delta?.text ?? '',
    isLast: (data) => JSON.parse(data).type === 'message_stop',
  },
  responses: {
    path: '/v1/responses',
    ask: (words) => ({ store: false, input: words }),
    text: (data) => (data.type === 'response.output_text.delta' ? data.delta : ''),
    isLast: (data) => JSON.parse(data).type === 'response.completed',
  },
};
const NAMES = ['ping', 'error', 'message_start', 'content_block_start', 'content_block_delta',
  'content_block_stop', 'message_delta', 'message_stop', 'response.created',
  'response.in_progress', 'response.output_item.added', 'response.content_part.added',
  'response.output_text.delta', 'response.output_text.done', 'response.content_part.done',
  'response.output_item.done', 'response.completed'];

// An application: every message is JSON or the terminator.
class Application {
  text = '';
  error = null;

  constructor(dialect) {
    this.dialect = dialect;
  }

  // Whether the stream is over.
  hears(data) {
    if (data === '[DONE]') return true;
    const said = JSON.parse(data);
    this.error ??= said.error ?? null;
    this.text += this.dialect.text(said);
    return this.error !== null || this.dialect.isLast(data);
  }
}

const json = { 'content-type': 'application/json' };
const post = (asked) => ({ method: 'POST', headers: json, body: JSON.stringify(asked) });

// Each gives the application its messages, and is done when its stream is.
const READERS = {
  'fetch-event-source': (url, asked, app) => fetchEventSource(url, {
    ...post(asked), openWhenHidden: true, signal: AbortSignal.timeout(10_000),
    onmessage: ({ data }) => void app.hears(data),
  }),
  eventsource: (url, asked, app) => {
    const options = { fetch: (at, more) => fetch(at, { ...more, ...post(asked) }) };
    return listened(new EventSource(url, options), app);
  },
  'extended-eventsource': (url, asked, app) => (
    listened(new ExtendedEventSource(url, { ...post(asked), retry: 100 }), app)),
  'eventsource-client': async (url, asked, app) => {
    const source = createEventSource({ url, ...post(asked) });
    for await (const { data } of source) if (app.hears(data)) break;
    source.close();
  },
  'eventsource-parser': async (url, asked, app) => {
    const { body } = await fetch(url, post(asked));
    const read = body.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }));
    for await (const { data } of read) app.hears(data);
  },
  'fetch-event-stream': async (url, asked, app) => {
    for await (const { data } of events(await fetch(url, post(asked)))) app.hears(data);
  },
  'parse-sse': async (url, asked, app) => {
    for await (const { data } of parseServerSentEvents(await fetch(url, post(asked)))) {
      app.hears(data);
    }
  },
};

// As applications listen to an EventSource; it asks again until it is closed.
function listened(source, app) {
  return new Promise((done, failed) => {
    const hears = ({ data, message }) => {
      try {
        assert(data !== undefined, `it failed: ${message}`);
        if (!app.hears(data)) return;
        done();
      } catch (error) {
        failed(error);
      }
      source.close();
    };
    source.onmessage = hears;
    for (const name of NAMES) source.addEventListener(name, hears);
  });
}

// How often each question was asked, and by whom.
const asked = new Map();
const question = (...whose) => `Count, for <${whose.join(' ')}>.`;
const chunk = (delta, finish_reason = null) => `data: ${JSON.stringify({
  id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})}\n\n`;
// Silent before the first word, and between two; it breaks where it is told to.
const upstream = createServer(async (request, answer) => {
  let body = '';
  for await (const part of request) body += part;
  const [whose] = /Count, for <.*?>\./.exec(body);
  asked.set(whose, (asked.get(whose) ?? 0) + 1);
  answer.writeHead(200, { 'content-type': 'text/event-stream' });
  await wait(SILENCE);
  answer.write(chunk({ role: 'assistant', content: '' }) + chunk({ content: 'one ' }));
  await wait(SILENCE);
  answer.write(chunk({ content: 'two' }));
  if (body.includes('"breaks"')) {
    await wait(SILENCE);
    answer.destroy();
    return;
  }
  answer.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
});

let folder;
let relay;
let url;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belay-js-'));
  await new Promise((up) => {
    upstream.listen(0, '127.0.0.1', up);
  });
  const rung = (model) => `[rungs.${model}]\nprovider = "up"\nmodel = "${model}"\n`
    + 'breaker = { open_consecutive = 1000, min_samples = 10000 }\n'
    + `[ladders.${model}]\nrungs = ["${model}"]\nfail_fast = true\n`;
  const config = join(folder, 'belay.toml');
  writeFileSync(config, '[server]\nlisten = "127.0.0.1:0"\n'
    + 'early_headers = "200ms"\nheartbeat = "150ms"\n[admin]\nlisten = "127.0.0.1:0"\n'
    + `[journal]\npath = "${folder}/belay.db"\n[providers.up]\ndialect = "openai-chat"\n`
    + `base_url = "http://127.0.0.1:${upstream.address().port}"\n${rung('well')}${rung('breaks')}`);
  [relay, url] = await program(folder, 'serve', ['serve', '--config', config],
    'belay: serving on ');
});
after(async () => {
  await new Promise((end) => {
    relay.once('exit', end);
    relay.kill('SIGTERM');
  });
  upstream.closeAllConnections();
  upstream.close();
  rmSync(folder, { recursive: true });
});

describe('readers of event streams', { concurrency: true }, () => {
  for (const [name, read] of Object.entries(READERS)) {
    for (const [kind, dialect] of Object.entries(DIALECTS)) {
      it(`${name} reads ${kind}`, async () => {
        const run = async (model) => {
          const app = new Application(dialect);
          const words = question(name, kind, model);
          await read(url + dialect.path, { model, stream: true, ...dialect.ask(words) }, app);
          // One that asks again does so a second later.
          await wait(1200);
          assert.equal(asked.get(words), 1, 'requests for one');
          assert.equal(app.text, 'one two');
          return app;
        };
        assert.equal((await run('well')).error, null);
        assert.match((await run('breaks')).error.message, /not the whole answer/);
      });
    }
  }

  it('the SDKs read them', async () => {
    // The browsers' readers above need a window; with it the SDKs take this for a browser.
    const options = { apiKey: 'none', timeout: 30_000, dangerouslyAllowBrowser: true };
    const openai = new OpenAI({ ...options, baseURL: `${url}/v1` });
    const anthropic = new Anthropic({ ...options, baseURL: url });
    const { chat, messages, responses } = DIALECTS;
    const ways = [
      [chat, (ask) => openai.chat.completions.create(ask)],
      [chat, async (ask) => openai.chat.completions.stream(ask)],
      [messages, (ask) => anthropic.messages.create(ask)],
      [messages, async (ask) => anthropic.messages.stream(ask)],
      [responses, (ask) => openai.responses.create(ask)],
      [responses, async (ask) => openai.responses.stream(ask)],
    ];
    await Promise.all(ways.map(async ([dialect, start]) => {
      for (const model of ['well', 'breaks']) {
        let text = '';
        const read = async () => {
          const words = dialect.ask(question('SDK'));
          for await (const said of await start({ model, stream: true, ...words })) {
            text += dialect.text(said);
          }
        };
        if (model === 'well') await read();
        else await assert.rejects(read(), /not the whole answer/);
        assert.equal(text, 'one two');
      }
    }));
  });
});
