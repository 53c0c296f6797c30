//! B: what one request may do to the health of a rung.
