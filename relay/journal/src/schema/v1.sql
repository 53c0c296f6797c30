-- Main tables are append-only by rowid: a request's id grows with time, so a
-- batch dirties the last pages and no others. Words are stored as words, so
-- that the sqlite3 shell is enough on a bad night.

CREATE TABLE requests (
    id            INTEGER PRIMARY KEY,  -- RequestId's number
    at            INTEGER NOT NULL,     -- accepted, milliseconds since 1970
    client        TEXT,
    ladder        TEXT,
    model         TEXT,
    stream        INTEGER NOT NULL,
    outcome       TEXT,                 -- NULL while it runs
    cause         TEXT,
    status        INTEGER,
    answered_by   TEXT,
    attempts_made INTEGER,              -- NULL until its end: then count attempts
    hedged        INTEGER,              -- NULL until its end: then look at attempts
    ttft_ms       INTEGER,
    latency_ms    INTEGER,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cost_nano     INTEGER,              -- nano-dollars over all attempts
    no_cost       TEXT,                 -- why cost_nano is NULL
    events        INTEGER NOT NULL DEFAULT 0,
    bytes         INTEGER NOT NULL DEFAULT 0,
    passed_over   TEXT                  -- JSON [[rung, reason], ...]
) STRICT;

-- Newest first, windows of time, and the oldest for pruning.
CREATE INDEX requests_at ON requests (at);
-- Empty but for what runs now: recovery need not read the table.
CREATE INDEX requests_unfinished ON requests (id) WHERE outcome IS NULL;

CREATE TABLE attempts (
    id               INTEGER PRIMARY KEY,
    request          INTEGER NOT NULL,
    n                INTEGER NOT NULL,  -- from 1
    at               INTEGER NOT NULL,  -- dialled
    rung             TEXT NOT NULL,
    kind             TEXT NOT NULL,
    probe            INTEGER NOT NULL,
    outcome          TEXT,              -- NULL while it runs
    cause            TEXT,
    detail           TEXT,
    status           INTEGER,
    verdict          TEXT,
    stream_verdict   TEXT,
    headers_ms       INTEGER,
    ttft_ms          INTEGER,
    latency_ms       INTEGER,
    events           INTEGER NOT NULL DEFAULT 0,
    bytes            INTEGER NOT NULL DEFAULT 0,
    input_tokens     INTEGER,
    output_tokens    INTEGER,
    cached_tokens    INTEGER,
    written_tokens   INTEGER,           -- written to the provider's cache
    reasoning_tokens INTEGER,
    estimated        INTEGER NOT NULL DEFAULT 0,
    cost_nano        INTEGER,
    no_cost          TEXT,
    UNIQUE (request, n)
) STRICT;

CREATE INDEX attempts_unfinished ON attempts (id) WHERE outcome IS NULL;

CREATE TABLE transitions (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    rung        TEXT NOT NULL,
    generation  INTEGER NOT NULL,
    before      TEXT,                   -- breaker state, NULL on a first sighting
    after       TEXT NOT NULL,
    rule        TEXT NOT NULL,          -- which rule of the breaker spoke
    text        TEXT,                   -- the same in words
    slow        INTEGER,
    bad         INTEGER,
    n           INTEGER,
    outcome     TEXT,                   -- of the attempt that tipped it
    status      INTEGER,
    code        TEXT,
    request     INTEGER,                -- of the attempt that tipped it
    weight      REAL,
    cooldown_ms INTEGER,
    mark_ms     INTEGER,
    ref_p95_ms  INTEGER,
    until       INTEGER,
    action      INTEGER                 -- the operator's, if one caused it
) STRICT;

CREATE TABLE actions (
    id       INTEGER PRIMARY KEY,
    key      TEXT NOT NULL UNIQUE,      -- made by the client: sent twice, done once
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,             -- override, order, probe, check, note, undo, config, drain
    author   TEXT,                      -- the token's name; NULL: the relay itself
    via      TEXT,
    targets  TEXT NOT NULL,             -- JSON
    reason   TEXT,
    before   TEXT,                      -- JSON, what undo goes back to
    after    TEXT,                      -- JSON
    accepted TEXT,                      -- JSON, ladders the author let go without a rung
    status   INTEGER NOT NULL,          -- the first answer, given again for the same key
    answer   TEXT,
    until    INTEGER,
    ended    INTEGER,
    ended_by TEXT,
    undoes   INTEGER
) STRICT;

CREATE TABLE orders (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    ladder  TEXT NOT NULL,
    version INTEGER NOT NULL,
    source  TEXT NOT NULL,              -- operator, adapted, fleet
    rungs   TEXT NOT NULL,              -- JSON
    author  TEXT,
    reason  TEXT,
    until   INTEGER,                    -- NULL: endless, said so on purpose
    action  INTEGER,
    ended   INTEGER,                    -- NULL while in force
    ended_why TEXT
) STRICT;

CREATE UNIQUE INDEX orders_in_force ON orders (ladder) WHERE ended IS NULL;

CREATE TABLE overrides (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    rung    TEXT NOT NULL,
    version INTEGER NOT NULL,
    mode    TEXT NOT NULL,              -- forced_open, forced_closed, demoted
    author  TEXT,
    reason  TEXT,
    until   INTEGER,                    -- NULL: endless, said so on purpose
    cut     INTEGER NOT NULL DEFAULT 0, -- committed streams were cut too
    fleet   INTEGER NOT NULL DEFAULT 0, -- shared with the other relays
    action  INTEGER,
    ended   INTEGER,                    -- NULL while in force
    ended_why TEXT
) STRICT;

CREATE UNIQUE INDEX overrides_in_force ON overrides (rung) WHERE ended IS NULL;
