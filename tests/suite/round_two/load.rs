//! C: no request holds up another one, whatever its size.
