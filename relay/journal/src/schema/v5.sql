-- What a rung was not told of a request, and requests that are kept whole.

ALTER TABLE attempts ADD COLUMN left_out TEXT;   -- words, separated by commas

CREATE TABLE captures (
    id       INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,      -- milliseconds since 1970
    request  INTEGER NOT NULL,
    ladder   TEXT NOT NULL,
    rung     TEXT NOT NULL,         -- which answered
    dialect  TEXT NOT NULL,         -- the client's: of both texts
    prompt   TEXT,                  -- the variant of the ladder's system prompt
    asked    TEXT NOT NULL,         -- the client's request, JSON
    answered TEXT NOT NULL          -- the whole answer, JSON
) STRICT;
CREATE INDEX captures_by_request ON captures (request);
