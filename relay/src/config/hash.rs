//! SHA-256 hashes of client keys and admin tokens, as `belay hash-key` prints them.

use super::tree::Value;

const FIX: &str = "run 'belay hash-key' and write the 64 hex digits it prints";

/// Reads 64 hex digits. What stands there instead may be the key: it is not repeated.
pub(super) fn read(value: &Value<'_>) -> Option<[u8; 32]> {
    let text = value.string()?;
    let hash = decode(text);
    if hash.is_none() {
        let text = format!("is no SHA-256: {} characters, not 64 hex digits", text.chars().count());
        value.error(text, FIX);
    }
    hash
}

fn decode(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        for digit in pair {
            let digit = char::from(*digit).to_digit(16)?;
            *byte = *byte << 4 | u8::try_from(digit).ok()?;
        }
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_hex_digits_are_a_hash() {
        let mut expected = [0xab; 32];
        expected[0] = 0x01;
        assert_eq!(decode(&format!("01{}", "aB".repeat(31))), Some(expected));
        let unlike = ["a".repeat(63), "a".repeat(65), "g".repeat(64), "é".repeat(32), "".into()];
        for text in unlike {
            assert_eq!(decode(&text), None, "{text}");
        }
    }
}
