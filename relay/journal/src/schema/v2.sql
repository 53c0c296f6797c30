-- What a restart must not forget of a rung. One row a rung, written over: the
-- history of it is in transitions.

CREATE TABLE health (
    rung           TEXT PRIMARY KEY,
    at             INTEGER NOT NULL,    -- written
    fingerprint    TEXT NOT NULL,       -- another one: another rung under the same name
    key_tag        TEXT NOT NULL,       -- another one: another account
    state          TEXT NOT NULL,       -- closed, open, half_open
    cause          TEXT,                -- the rule that opened it, NULL if closed
    until          INTEGER,             -- of an open one
    weight         REAL NOT NULL,
    cooldown_ms    INTEGER NOT NULL,
    by_streams     INTEGER NOT NULL,
    away_since     INTEGER,             -- NULL at full weight
    hold_until     INTEGER,
    hold_doublings INTEGER,
    hold_guessed   INTEGER,
    ref_p95_us     INTEGER,             -- net of the prompt's size
    usual_us       INTEGER
) STRICT, WITHOUT ROWID;
