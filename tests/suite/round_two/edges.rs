//! D: oddities of HTTP, on both sides.
