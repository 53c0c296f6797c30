-- What each minute was, for curves, sums and what is usual. Written once, a minute
-- after; kept for 30 days whatever is kept of the requests.

CREATE TABLE minutes (
    at            INTEGER NOT NULL,     -- its start, milliseconds since 1970
    ladder        TEXT NOT NULL,
    rung          TEXT NOT NULL,        -- '': the ladder's requests, else the rung's attempts for it
    life          INTEGER NOT NULL,     -- the relay's start: a minute may have seen two
    calls         INTEGER NOT NULL,     -- requests, or attempts, that ended
    good          INTEGER NOT NULL,
    slow          INTEGER NOT NULL,     -- requests: late ones
    bad           INTEGER NOT NULL,     -- requests: failed and broken ones
    broken        INTEGER NOT NULL,     -- of bad, in mid-stream; 0 for a rung
    gone          INTEGER NOT NULL,     -- clients that left before a token
    rescued       INTEGER NOT NULL,
    last_resort   INTEGER NOT NULL,
    first         INTEGER NOT NULL,     -- a rung: requests that called it first
    answered      INTEGER NOT NULL,     -- a rung: requests that it answered
    outcomes      TEXT NOT NULL,        -- JSON {outcome: count}
    passed        TEXT NOT NULL,        -- JSON {reason: count}
    hist          TEXT NOT NULL,        -- JSON [[bucket, tokens, cut], ...]
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_nano     INTEGER NOT NULL,     -- as far as it is known
    lost_nano     INTEGER NOT NULL,     -- of it, losers of races
    PRIMARY KEY (at, ladder, rung, life)
) STRICT, WITHOUT ROWID;
