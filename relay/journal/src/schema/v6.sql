-- Whether a rung has once sent a finish reason: an answer without one has been cut.

ALTER TABLE health ADD COLUMN finishes INTEGER NOT NULL DEFAULT 0;
