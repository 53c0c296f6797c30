// The AI SDK, the two newest majors, as most programs use it: `openai(model)`, which asks for
// responses and refers to earlier items by their ids.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as ai6 from 'ai-6';
import { createOpenAI as openai6 } from 'ai-6-openai';
import * as ai7 from 'ai-7';
import { createOpenAI as openai7 } from 'ai-7-openai';
import { DIALECTS, KEY, matrix, order } from './matrix.mjs';

const VERSIONS = [['AI SDK 6', ai6, openai6], ['AI SDK 7', ai7, openai7]];
const OSLO = { name: 'weather', arguments: { city: 'Oslo' } };
const NOON = { name: 'clock', arguments: { zone: 'Europe/Oslo' } };
const FIELDS = { weather: 'city', clock: 'zone' };

globalThis.AI_SDK_LOG_WARNINGS = false;

let at;
before(async () => {
  at = await matrix();
});
after(() => at.close());

// The tools, which the program itself runs after each turn.
const tools = ({ tool, jsonSchema }) => Object.fromEntries(
  Object.entries(FIELDS).map(([name, field]) => [name, tool({
    description: `The ${name}.`,
    inputSchema: jsonSchema({
      type: 'object',
      properties: { [field]: { type: 'string' } },
      required: [field],
      additionalProperties: false,
    }),
  })]),
);

const results = (calls, ...values) => ({
  role: 'tool',
  content: calls.map(({ toolCallId, toolName }, n) => ({
    type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: values[n] },
  })),
});

const bare = (calls) => calls.map(({ toolName, input }) => ({ name: toolName, arguments: input }));

for (const [name, ai, createOpenAI] of VERSIONS) {
  for (const dialect of DIALECTS) {
    // The mock keeps nothing, so a provider of responses cannot be referred to.
    const stores = dialect === 'openai-responses' ? [false] : [undefined, false];
    describe(`${name} from ${dialect}`, () => {
      const ask = async (way, messages, store, thinking) => {
        const openai = { ...(store === undefined ? {} : { store }) };
        if (thinking) {
          Object.assign(openai, { forceReasoning: true, reasoningEffort: 'low',
            reasoningSummary: 'auto' });
        }
        const asked = {
          model: createOpenAI({ baseURL: `${at.url}/v1`, apiKey: KEY })(dialect),
          messages,
          tools: tools(ai),
          maxRetries: 0,
          providerOptions: { openai },
        };
        if (way === 'whole') return ai.generateText(asked);
        const stream = ai.streamText({ ...asked, onError: () => {} });
        await stream.consumeStream({ onError: (error) => { throw error; } });
        return { text: await stream.text, toolCalls: await stream.toolCalls,
          reasoningText: await stream.reasoningText, response: await stream.response };
      };

      for (const way of ['whole', 'stream']) {
        for (const store of stores) {
          for (const thinking of [false, true]) {
            const kept = store === false ? 'nothing stored' : 'by reference';
            it(`three turns with tools, ${way}, ${kept}${thinking ? ', thinking' : ''}`, async () => {
              const thought = (words) => (thinking ? { reasoning: words } : {});
              const wish = order({ calls: [OSLO, NOON], ...thought('Hm.') });
              const turns = [{ role: 'user', content: `Oslo? ${wish}` }];
              const first = await ask(way, turns, store, thinking);
              assert.deepEqual(bare(first.toolCalls), [OSLO, NOON]);
              if (thinking) assert.equal(first.reasoningText, 'Hm.');

              const again = order({ calls: [OSLO], ...thought('Again.') });
              turns.push(...first.response.messages,
                results(first.toolCalls, '7 degrees', `noon ${again}`));
              const second = await ask(way, turns, store, thinking);
              assert.deepEqual(bare(second.toolCalls), [OSLO]);

              const last = order({ text: 'Mild.', ...thought('Well.') });
              turns.push(...second.response.messages, results(second.toolCalls, `8 ${last}`));
              const third = await ask(way, turns, store, thinking);
              assert.equal(third.text, 'Mild.');
              if (thinking) assert.equal(third.reasoningText, 'Well.');

              const bye = order({ text: 'Bye.' });
              turns.push(...third.response.messages, { role: 'user', content: `Thanks. ${bye}` });
              const fourth = await ask(way, turns, store, thinking);
              assert.equal(fourth.text, 'Bye.');
            });
          }
        }
      }
    });
  }
}
