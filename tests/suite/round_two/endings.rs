//! A: an ending is told as the provider meant it, never guessed.
