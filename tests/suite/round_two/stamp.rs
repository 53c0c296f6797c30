//! G: the figures that an answer carries.
