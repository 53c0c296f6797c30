// A relay over a provider with silences in its streams: the client hears heartbeats, and a stamp at
// the end. The provider counts how often each question reaches it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { program } from './matrix.mjs';

const SILENCE = 400;
// The stream of the first is whole; that of the other is cut once its words are out.
const MODELS = ['well', 'breaks'];

const chunk = (delta, finish_reason = null) => `data: ${JSON.stringify({
  id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})}\n\n`;

// Silent before the first word, and between two.
function provider(asked) {
  return createServer(async (request, answer) => {
    let body = '';
    for await (const part of request) body += part;
    const [whose] = /Count, for <.*?>\./.exec(body);
    asked.set(whose, (asked.get(whose) ?? 0) + 1);
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    await wait(SILENCE);
    answer.write(chunk({ role: 'assistant', content: '' }) + chunk({ content: 'one ' }));
    await wait(SILENCE);
    answer.write(chunk({ content: 'two' }));
    if (JSON.parse(body).model === 'breaks') {
      await wait(SILENCE);
      answer.destroy();
      return;
    }
    answer.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
}

function config(folder, port) {
  const rung = (model) => `[rungs.${model}]\nprovider = "up"\nmodel = "${model}"\n`
    + 'breaker = { open_consecutive = 1000, min_samples = 10000 }\n'
    + `[ladders.${model}]\nrungs = ["${model}"]\nfail_fast = true\n`;
  return '[server]\nlisten = "127.0.0.1:0"\nearly_headers = "200ms"\nheartbeat = "150ms"\n'
    + `[admin]\nlisten = "127.0.0.1:0"\n[journal]\npath = "${folder}/belay.db"\n`
    + `[providers.up]\ndialect = "openai-chat"\nbase_url = "http://127.0.0.1:${port}"\n`
    + MODELS.map(rung).join('');
}

export async function quiet() {
  const asked = new Map();
  const upstream = provider(asked);
  await new Promise((up) => {
    upstream.listen(0, '127.0.0.1', up);
  });
  const folder = mkdtempSync(join(tmpdir(), 'belay-js-'));
  const path = join(folder, 'belay.toml');
  writeFileSync(path, config(folder, upstream.address().port));
  const [relay, url] = await program(folder, 'serve', ['serve', '--config', path],
    'belay: serving on ');
  return {
    url,
    question: (...whose) => `Count, for <${whose.join(' ')}>.`,
    asked: (question) => asked.get(question) ?? 0,
    close: async () => {
      await new Promise((end) => {
        relay.once('exit', end);
        relay.kill('SIGTERM');
      });
      upstream.closeAllConnections();
      upstream.close();
      rmSync(folder, { recursive: true });
    },
  };
}
