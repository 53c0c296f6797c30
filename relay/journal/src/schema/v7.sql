-- When the trouble that a rung has now began: a new cause begins a new one while it is away.

ALTER TABLE health ADD COLUMN trouble_since INTEGER;
