//! F: what real clients need beside the answer.
