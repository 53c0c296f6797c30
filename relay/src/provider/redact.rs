//! Takes keys, URLs and hosts out of a provider's message before a client sees it.

/// Stands where something was taken out.
const KEY: &str = "[key]";
const URL: &str = "[url]";

/// The longest message that is passed on, in characters.
const LONGEST: usize = 1_000;

/// `text` without the given secrets, URLs, addresses, and words that look like keys.
#[must_use]
pub fn redact(text: &str, secrets: &[String]) -> String {
    let mut clean = text.to_owned();
    for secret in secrets {
        clean = clean.replace(secret.as_str(), KEY);
    }
    let clean: String =
        clean.chars().filter(|c| !c.is_control() || *c == '\n').take(LONGEST).collect();
    let mut out = String::with_capacity(clean.len());
    for (index, word) in clean.split(' ').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        push_word(word, &mut out);
    }
    out
}

fn push_word(word: &str, out: &mut String) {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    if bare.is_empty() {
        out.push_str(word);
        return;
    }
    let stand_in = if bare.contains("://") || looks_like_host(bare) {
        URL
    } else if looks_like_key(bare) {
        KEY
    } else {
        out.push_str(word);
        return;
    };
    let before = word.find(bare).unwrap_or(0);
    out.push_str(word.get(..before).unwrap_or_default());
    out.push_str(stand_in);
    out.push_str(word.get(before.saturating_add(bare.len())..).unwrap_or_default());
}

/// A dotted name with a known ending, or an address with or without a port.
fn looks_like_host(word: &str) -> bool {
    let host = word.split(['/', ':']).next().unwrap_or(word);
    let address = word.parse::<std::net::IpAddr>().is_ok()
        || word.parse::<std::net::SocketAddr>().is_ok()
        || host.parse::<std::net::Ipv4Addr>().is_ok();
    const ENDINGS: [&str; 8] = ["com", "ai", "net", "org", "io", "dev", "internal", "local"];
    let mut labels = host.rsplit('.');
    let ending = labels.next().unwrap_or_default().to_ascii_lowercase();
    let rest_is_name = host.contains('.')
        && labels.all(|label| {
            !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        });
    address || (rest_is_name && ENDINGS.contains(&ending.as_str()))
}

/// The prefixes that vendors give their keys, or a long word of letters and digits mixed.
fn looks_like_key(word: &str) -> bool {
    const PREFIXES: [&str; 8] = ["sk-", "sk_", "pk-", "gsk_", "xai-", "AIza", "AKIA", "Bearer"];
    let prefixed = PREFIXES.iter().any(|prefix| word.starts_with(prefix)) && word.len() > 8;
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_*.".contains(c));
    let mixed =
        word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(|c| c.is_ascii_alphabetic());
    prefixed || (plain && mixed && word.len() >= 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_urls_and_hosts_go_the_rest_stays() {
        let secrets = ["UPSTREAM-KEY-PLACEHOLDER-0001".to_owned(), "api.vendor.example".to_owned()];
        let cases = [
            ("messages[3].content must be a string", "messages[3].content must be a string"),
            (
                "Incorrect key provided: UPSTREAM-KEY-PLACEHOLDER-0001. Check it.",
                "Incorrect key provided: [key]. Check it.",
            ),
            ("see https://x.example/keys?key=abc.", "see [url]."),
            ("at api.openai.com (10.0.0.3:8080)", "at [url] ([url])"),
            ("api.vendor.example said no", "[key] said no"),
            ("bad key sk-abc123def456", "bad key [key]"),
            ("id 0a1b2c3d4e5f6a7b8c9d0e1f2a3b", "id [key]"),
            ("maximum context length is 128000 tokens", "maximum context length is 128000 tokens"),
        ];
        for (text, clean) in cases {
            assert_eq!(redact(text, &secrets), clean);
        }
    }

    #[test]
    fn a_long_message_is_cut() {
        assert_eq!(redact(&"x".repeat(5_000), &[]).len(), LONGEST);
    }
}
