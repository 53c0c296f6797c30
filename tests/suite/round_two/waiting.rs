//! B: how long a request waits at a rung that is silent, slow or half dead.
