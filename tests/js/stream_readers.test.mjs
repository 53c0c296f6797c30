// Readers of event streams as browsers' frontends use them, each with an application that parses
// every message as JSON, as most do. They see a stream with silences in it, so with heartbeats and
// a stamp; each must ask once, and read the text once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { EventSource } from 'eventsource';
import { createEventSource } from 'eventsource-client';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { EventSource as ExtendedEventSource } from 'extended-eventsource';
import { events } from 'fetch-event-stream';
import { parseServerSentEvents } from 'parse-sse';
import { quiet } from './quiet.mjs';

// What fetch-event-source wants of a browser.
globalThis.window ??= globalThis;
globalThis.document ??= { addEventListener() {}, removeEventListener() {}, hidden: false };

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
  // Open WebUI's frontend reads with it too.
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

let at;
before(async () => {
  at = await quiet();
});
after(() => at.close());

describe('readers of event streams', { concurrency: true }, () => {
  for (const [name, read] of Object.entries(READERS)) {
    for (const [kind, dialect] of Object.entries(DIALECTS)) {
      it(`${name} reads ${kind}`, async () => {
        const run = async (model) => {
          const app = new Application(dialect);
          const words = at.question(name, kind, model);
          await read(at.url + dialect.path, { model, stream: true, ...dialect.ask(words) }, app);
          // One that asks again does so a second later.
          await wait(1200);
          assert.equal(at.asked(words), 1, 'requests for one');
          assert.equal(app.text, 'one two');
          return app;
        };
        assert.equal((await run('well')).error, null);
        assert.match((await run('breaks')).error.message, /not the whole answer/);
      });
    }
  }
});
