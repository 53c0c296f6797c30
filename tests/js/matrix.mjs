// A relay in front of `belay mock`, with a ladder for each dialect that the mock speaks. A ladder
// is named after its dialect; a test that breaks a rung asks for a ladder of its own.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
const BELAY = resolve(process.env.BELAY_BIN ?? join(TARGET, 'debug', 'belay'));

export const KEY = 'sk-of-the-sdk';
// The models are those whose proofs the mock insists on.
const MODELS = {
  'openai-chat': 'gpt-x',
  'anthropic-messages': 'claude-x',
  'openai-responses': 'gpt-x',
  gemini: 'gemini-3-x',
};
export const DIALECTS = Object.keys(MODELS);
export const CLIENTS = ['chat', 'responses', 'messages'];
const KINDS = ['broken', 'held'];

export const trouble = (kind, client, dialect) => `${kind}-${client}-${dialect}`;
// Words that tell the mock what to answer, or what to do wrong.
export const order = (wish) => `[[mock ${JSON.stringify(wish)}]]`;

function config(folder, url) {
  const hash = createHash('sha256').update(KEY).digest('hex');
  const parts = [
    `[server]\nlisten = "127.0.0.1:0"\n[admin]\nlisten = "127.0.0.1:0"`,
    `[journal]\npath = "${folder}/belay.db"\n[clients.sdk]\nkey_sha256 = "${hash}"`,
  ];
  for (const dialect of DIALECTS) {
    const version = dialect.startsWith('openai') ? '/v1' : '';
    parts.push(
      `[providers.${dialect}]\ndialect = "${dialect}"\nbase_url = "${url}${version}"\n` +
        'api_key = { env = "UPSTREAM_KEY" }',
    );
    const broken = KINDS.flatMap((kind) => CLIENTS.map((one) => trouble(kind, one, dialect)));
    for (const name of [dialect, ...broken]) {
      parts.push(
        `[rungs.${name}]\nprovider = "${dialect}"\nmodel = "${MODELS[dialect]}"\n` +
          'breaker = { open_consecutive = 1000, min_samples = 10000 }',
        `[ladders.${name}]\nrungs = ["${name}"]\nfail_fast = true\npatience = "0s"\n` +
          'clocks = { ttft = "5s", inter_token = "400ms", total = "20s" }',
      );
    }
  }
  return parts.join('\n\n') + '\n';
}

// Starts a program; gives it and what follows `start` on the first line that begins with it.
export function program(folder, name, args, start) {
  const log = join(folder, `${name}.log`);
  const child = spawn(BELAY, args, {
    cwd: folder,
    stdio: ['pipe', 'pipe', openSync(log, 'w')],
    env: { ...process.env, UPSTREAM_KEY: 'sk-upstream-secret' },
  });
  const lines = createInterface(child.stdout);
  return new Promise((found, failed) => {
    child.once('error', failed);
    child.once('exit', (code) => {
      failed(new Error(`belay ${args[0]} ended with ${code}: ${readFileSync(log, 'utf8')}`));
    });
    lines.on('line', (line) => {
      if (line.startsWith(start)) found([child, line.slice(start.length).trim()]);
    });
  });
}

// A relay and its mock.
export async function matrix() {
  const folder = mkdtempSync(join(tmpdir(), 'belay-js-'));
  const mocked = ['mock', '--listen', '127.0.0.1:0', '--ttft', '0ms', '--gap', '1ms',
    '--exit-with-parent'];
  const [mock, upstream] = await program(folder, 'mock', mocked, 'listening on ');
  const path = join(folder, 'belay.toml');
  writeFileSync(path, config(folder, upstream));
  const [relay, url] = await program(folder, 'serve', ['serve', '--config', path],
    'belay: serving on ');
  const ended = (child) => new Promise((end) => {
    child.once('exit', end);
    child.kill('SIGTERM');
  });
  return {
    url,
    close: async () => {
      await ended(relay);
      await ended(mock);
      rmSync(folder, { recursive: true });
    },
  };
}
