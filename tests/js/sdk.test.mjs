// Every official SDK for JavaScript against providers of every dialect.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CLIENTS, DIALECTS, matrix, order, trouble } from './matrix.mjs';
import { TALKERS, WAYS } from './talkers.mjs';

const OSLO = { name: 'weather', arguments: { city: 'Oslo' } };
const NOON = { name: 'clock', arguments: { zone: 'Europe/Oslo' } };
const bare = (calls) => calls.map(({ name, arguments: given }) => ({ name, arguments: given }));

let at;
before(async () => {
  at = await matrix();
});
after(() => at.close());

for (const client of CLIENTS) {
  for (const dialect of DIALECTS) {
    describe(`${client} from ${dialect}`, () => {
      for (const way of WAYS) {
        it(`a text, ${way}`, async () => {
          const talker = new TALKERS[client](at.url);
          const turns = talker.user('Say something.', order({ text: 'Fair winds to you.' }));
          const answer = await talker.ask(way, turns, dialect);
          assert.equal(answer.text, 'Fair winds to you.');
          assert.equal(answer.finish, talker.finishes.stop);
          assert.equal(answer.output, 4);
        });

        it(`twin calls, ${way}`, async () => {
          const talker = new TALKERS[client](at.url);
          const turns = talker.user('What is it like?', order({ calls: [OSLO, OSLO] }));
          const answer = await talker.ask(way, turns, dialect, { tools: ['weather', 'clock'] });
          assert.deepEqual(bare(answer.calls), [OSLO, OSLO]);
          assert.notEqual(answer.calls[0].id, answer.calls[1].id);
          assert.equal(answer.finish, talker.finishes.calls);
        });

        for (const thinking of [false, true]) {
          it(`a conversation with tools, ${way}${thinking ? ', thinking' : ''}`, async () => {
            const talker = new TALKERS[client](at.url);
            const asked = { tools: ['weather', 'clock'], thinking };
            const thought = (words) => (thinking ? { reasoning: words } : {});
            let turns = talker.user('Oslo?', order({ calls: [OSLO, NOON], ...thought('Hm.') }));
            const first = await talker.ask(way, turns, dialect, asked);
            assert.deepEqual(bare(first.calls), [OSLO, NOON]);
            assert.equal(first.thoughts, thinking ? 'Hm.' : '');
            const again = order({ calls: [OSLO], ...thought('Again.') });
            turns = [...turns, ...first.turn,
              ...talker.results(first.calls, '7 degrees', `noon ${again}`)];
            const second = await talker.ask(way, turns, dialect, asked);
            assert.deepEqual(bare(second.calls), [OSLO]);
            const last = order({ text: 'Mild.', ...thought('Well.') });
            turns = [...turns, ...second.turn, ...talker.results(second.calls, `8 ${last}`)];
            const third = await talker.ask(way, turns, dialect, asked);
            assert.equal(third.text, 'Mild.');
            assert.equal(third.thoughts, thinking ? 'Well.' : '');
          });
        }

        it(`JSON by a schema, ${way}`, async () => {
          const talker = new TALKERS[client](at.url);
          const answer = await talker.ask(way, talker.user('Which?'), dialect, { json: true });
          assert.deepEqual(JSON.parse(answer.text), { name: 'rope', turns: 7, slips: true });
        });

        it(`the endings, ${way}`, async () => {
          const talker = new TALKERS[client](at.url);
          const story = await talker.ask(way, talker.user('A story.'), dialect, { limit: 16 });
          assert.equal(story.finish, talker.finishes.length);
          assert.equal(story.output, 16);
          const wish = order({ text: 'So far', finish: 'content_filter' });
          const filtered = await talker.ask(way, talker.user(wish), dialect);
          assert.equal(filtered.finish, talker.finishes.filter);
          assert.equal(filtered.text, 'So far');
        });

        it(`errors before the first token, ${way}`, async () => {
          const talker = new TALKERS[client](at.url);
          const { sdk } = talker;
          const fails = async (ladder, fault, error, status) => {
            talker.sent = 0;
            await assert.rejects(
              talker.ask(way, talker.user(order(fault)), ladder),
              (caught) => {
                assert(sdk[error] === undefined || caught instanceof sdk[error], `${caught}`);
                assert.equal(caught.status, status);
                return true;
              },
            );
            assert.equal(talker.sent, 1, `${status}`);
          };
          await fails(dialect, 'status:400', 'BadRequestError', 400);
          await fails('no-such-ladder', 'none', 'NotFoundError', 404);
          const broken = trouble('broken', client, dialect);
          await fails(broken, 'status:500', 'InternalServerError', 502);
          await fails(broken, 'status:529', 'InternalServerError', 503);
          const full = { fault: 'status', status: 429, retry_after: '300' };
          await fails(trouble('held', client, dialect), full, 'RateLimitError', 429);
          const stranger = new TALKERS[client](at.url, 'sk-wrong');
          await assert.rejects(stranger.ask(way, stranger.user('Hi.'), dialect),
            sdk.AuthenticationError);
          assert.equal(stranger.sent, 1);
        });

        it(`a part is never an answer, ${way}`, async () => {
          const talker = new TALKERS[client](at.url);
          const broken = trouble('broken', client, dialect);
          for (const fault of ['cut:3', 'stall:3', 'end_early:3', 'error_frame:3']) {
            talker.sent = 0;
            await assert.rejects(
              talker.ask(way, talker.user(order(fault)), broken),
              (caught) => {
                const { APIError, APIConnectionError } = talker.sdk;
                assert(caught instanceof APIError, `${fault}: ${caught}`);
                assert(!(caught instanceof APIConnectionError), `${fault}: ${caught}`);
                return true;
              },
            );
            assert.equal(talker.sent, 1, fault);
          }
        });
      }
    });
  }
}
