-- Every order and every filter of the history has an index that gives it, so that a page is
-- read and no more, however long the history. Those by a name grow at the end of each name's
-- part and cost a page a name; those by a number are written all over. Measured (the `history`
-- program of the tests): 5,000,000 attempts take 1.7 times the room, every question less
-- than 100 ms, and nothing is late at 500 attempts a second.

CREATE INDEX requests_ladder ON requests (ladder, at);
CREATE INDEX requests_answered_by ON requests (answered_by, at);
CREATE INDEX requests_outcome ON requests (outcome, at);
CREATE INDEX requests_cost ON requests (cost_nano);
CREATE INDEX requests_ttft ON requests (ttft_ms);
CREATE INDEX requests_total ON requests (latency_ms);
CREATE INDEX requests_attempts ON requests (attempts_made);
CREATE INDEX attempts_rung ON attempts (rung, request);
