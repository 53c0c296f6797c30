// Requests in the shapes that Codex CLI 0.171 and Claude Code 2.1 send, against rungs of every
// dialect: the mock refuses what the real providers refuse. Each runs a loop of two turns.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DIALECTS, KEY, matrix, order } from './matrix.mjs';

let at;
before(async () => {
  at = await matrix();
});
after(() => at.close());

const schema = (more = {}) => ({
  type: 'object',
  properties: { id: { type: 'string', ...more } },
  required: ['id'],
  additionalProperties: false,
});
const wish = (name) => order({ calls: [{ name, arguments: { id: '5' } }] });

// The events of a stream.
async function post(path, body, headers = {}) {
  const answer = await fetch(at.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}`, ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const data = text.split('\n').filter((line) => line.startsWith('data: '));
  return data.map((line) => JSON.parse(line.slice(6)));
}

const message = (role, text) => ({
  type: 'message', id: 'msg_01a22f5c-e77b-7653-bfa5-11005f552b34', role,
  content: [{ type: 'input_text', text }],
});
const tool = (name) => ({
  type: 'function', name, description: 'Does it.', strict: false, parameters: schema(),
});
const codex = (model, input) => ({
  model,
  stream: true,
  input: [message('developer', 'You are Codex.'), message('developer', '<permissions>'), ...input],
  tools: [
    tool('exec_command'),
    { type: 'namespace', name: 'mcp__files', description: 'Notes.', tools: [tool('read_note')] },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'medium', summary: 'auto' },
  text: { verbosity: 'low' },
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '01a22f5d-36ab-7b90-b066-323b1bb462bf',
  client_metadata: { session_id: '01a22f5d', 'x-codex-turn-metadata': '{}' },
});

const mark = { type: 'ephemeral' };
const claude = (model, messages) => ({
  model,
  messages,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1;' },
    { type: 'text', text: 'You are a Claude agent.', cache_control: mark },
  ],
  tools: ['mcp__files__read_note', 'Bash'].map((name) => ({
    name, description: 'Does it.', input_schema: schema({ maxLength: 256 }),
  })),
  metadata: { user_id: '{"device_id":"69f1","session_id":"e1f2"}' },
  max_tokens: 32000,
  thinking: { type: 'adaptive', display: 'omitted' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'high' },
  stream: true,
});

for (const dialect of DIALECTS) {
  describe(`from ${dialect}`, () => {
    // The mock calls tools by the names that it is told.
    const names = dialect === 'openai-responses'
      ? ['exec_command'] : ['exec_command', 'mcp__files__read_note'];
    for (const name of names) {
      it(`Codex calls ${name}`, async () => {
        const asked = [message('user', `Go. ${wish(name)}`)];
        const items = (events) => events
          .filter((event) => event.type === 'response.output_item.done')
          .map((event) => event.item);
        const first = items(await post('/v1/responses', codex(dialect, asked)));
        const call = first.find((item) => item.type === 'function_call');
        const full = call.namespace ? `${call.namespace}__${call.name}` : call.name;
        assert.equal(full, name);
        assert.deepEqual(JSON.parse(call.arguments), { id: '5' });
        const output = {
          type: 'function_call_output', id: 'fco_01a22f5c', call_id: call.call_id,
          output: [
            { type: 'input_text', text: 'Wall time: 0.0022 seconds\nOutput:' },
            { type: 'input_text', text: order({ text: 'All done.' }) },
          ],
        };
        const second = items(await post('/v1/responses', codex(dialect, [...asked, ...first, output])));
        const texts = second.flatMap((item) => item.content ?? []).map((part) => part.text);
        assert.equal(texts.join(''), 'All done.');
      });
    }

    it('Claude Code calls a tool', async () => {
      const headers = {
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,'
          + 'context-management-2025-06-27,effort-2025-11-24',
      };
      const asked = [{ role: 'user', content: [
        { type: 'text', text: '<system-reminder>' },
        { type: 'text', text: `Go. ${wish('mcp__files__read_note')}`, cache_control: mark },
      ] }];
      const first = await post('/v1/messages?beta=true', claude(dialect, asked), headers);
      const starts = first.filter((event) => event.type === 'content_block_start');
      const call = starts.map((event) => event.content_block).find((it) => it.type === 'tool_use');
      assert.equal(call.name, 'mcp__files__read_note');
      const result = { type: 'tool_result', tool_use_id: call.id, is_error: false,
        content: [{ type: 'text', text: order({ text: 'All done.' }) }], cache_control: mark };
      const turns = [...asked,
        { role: 'assistant', content: [{ ...call, input: { id: '5' } }] },
        { role: 'user', content: [result] }];
      const second = await post('/v1/messages?beta=true', claude(dialect, turns), headers);
      const texts = second.filter((event) => event.delta?.type === 'text_delta');
      assert.equal(texts.map((event) => event.delta.text).join(''), 'All done.');
    });
  });
}
