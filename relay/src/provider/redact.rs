//! Takes keys, URLs and hosts out of a provider's message before a client sees it.

/// Stands where something was taken out.
const KEY: &str = "[key]";
const URL: &str = "[url]";

/// The longest message that is passed on, in characters.
const LONGEST: usize = 1_000;

/// `text` without the given secrets, URLs, hosts and addresses, and words that look like keys.
#[must_use]
pub fn redact(text: &str, secrets: &[String]) -> String {
    let mut clean = text.to_owned();
    for secret in secrets {
        clean = clean.replace(secret.as_str(), KEY);
    }
    let clean: String = clean.chars().take(LONGEST).collect();
    let mut out = String::with_capacity(clean.len());
    let mut rest = clean.as_str();
    let mut after_bearer = false;
    while let Some(c) = rest.chars().next() {
        if !is_part_of_a_word(c) {
            if !c.is_control() || c == '\n' {
                out.push(c);
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        }
        let mut end = rest.find(|c| !is_part_of_a_word(c)).unwrap_or(rest.len());
        if rest.get(..end).is_some_and(|word| word.contains("://")) {
            // A query may hold what no word does.
            let ends_url = |c: char| c.is_whitespace() || "\"'()<>,".contains(c);
            end = rest.find(ends_url).unwrap_or(rest.len());
        }
        let (word, next) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if after_bearer {
            out.push_str(KEY);
        } else {
            push_word(word, &mut out);
        }
        after_bearer = word.eq_ignore_ascii_case("bearer");
        rest = next;
    }
    out
}

/// Whether `c` can stand inside a key, a host or a URL.
fn is_part_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || "._~:/@%+-*?&#[]".contains(c)
}

/// Appends a word, or what stands for it; punctuation around it stays.
fn push_word(word: &str, out: &mut String) {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    // Parts such as the host of `upstream:gpu7.internal:80` or the key of `key:sk-…`.
    let parts = || bare.split([':', '@', '/', '?', '&', '[', ']']);
    let stand_in = if bare.contains("://") || is_address(word) {
        Some(URL)
    } else if is_path(bare) {
        None
    } else if parts().any(is_host) {
        Some(URL)
    } else {
        parts().any(looks_like_key).then_some(KEY)
    };
    let Some(stand_in) = stand_in else {
        out.push_str(word);
        return;
    };
    let before = word.find(bare).unwrap_or(0);
    let after = word.get(before.saturating_add(bare.len())..).unwrap_or_default();
    out.push_str(word.get(..before).unwrap_or_default().trim_end_matches('['));
    out.push_str(stand_in);
    out.push_str(after.trim_start_matches([']', '/']));
}

/// An IP address, alone or with a port, with or without brackets.
fn is_address(word: &str) -> bool {
    let bare = word.trim_matches(['.', ',', '/']);
    let v6 = bare.trim_start_matches('[').split(']').next().unwrap_or_default();
    (v6.len() > 2 && v6.parse::<std::net::Ipv6Addr>().is_ok())
        || bare.split([':', '/', '@']).any(|part| part.parse::<std::net::Ipv4Addr>().is_ok())
}

/// A dotted name that could be a host: at least two labels, the last one of letters.
/// Field paths (`messages.0.content`), versions and abbreviations are none.
fn is_host(part: &str) -> bool {
    let labels: Vec<&str> = part.trim_matches('.').split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let is_number = |label: &&str| label.chars().all(|c| c.is_ascii_digit());
    let (first, last) = (labels.first().unwrap_or(&""), labels.last().unwrap_or(&""));
    labels.len() >= 2
        && labels.iter().all(|label| is_label(label) && !is_number(label))
        && last.len() >= 2
        && last.chars().all(|c| c.is_ascii_alphabetic())
        && !FIELDS.contains(first)
}

/// Fields of a request, whose paths look like hosts.
const FIELDS: [&str; 17] = [
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "stream_options",
    "body",
    "input",
    "reasoning",
    "text",
    "thinking",
    "output_config",
    "metadata",
    "system",
    "contents",
    "generation_config",
    "max_output_tokens",
    "instructions",
];

/// Words that requests are made of. A path of nothing but them is no host.
const WORDS: [&str; 40] = [
    "additionalProperties",
    "arguments",
    "audio",
    "base64",
    "body",
    "budget_tokens",
    "cache_control",
    "choices",
    "content",
    "custom",
    "data",
    "description",
    "detail",
    "enum",
    "file",
    "file_data",
    "format",
    "function",
    "id",
    "image",
    "image_url",
    "input_schema",
    "items",
    "json_schema",
    "media_type",
    "mime_type",
    "name",
    "parameters",
    "parts",
    "properties",
    "required",
    "role",
    "schema",
    "source",
    "strict",
    "text",
    "tool_use_id",
    "type",
    "url",
    "value",
];

/// The longest name of a field that has digits in it: a key would be longer.
const LONGEST_MIXED: usize = 16;

/// The path of a field of a request, such as `tools[0].function.name` or
/// `messages.0.content.1.image.source.base64.media_type`.
fn is_path(word: &str) -> bool {
    let gaps: &[char] = if word.contains('/') { &['/'] } else { &['.', '[', ']'] };
    let labels: Vec<&str> = word.split(gaps).filter(|label| !label.is_empty()).collect();
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = |label: &&str| {
        let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let mixed = label.bytes().any(|byte| byte.is_ascii_digit()) && !is_number(label);
        plain && !looks_like_key(label) && !(mixed && label.len() > LONGEST_MIXED)
    };
    let first = labels.first().copied().unwrap_or_default();
    labels.len() >= 2
        && labels.iter().all(is_name)
        && !is_number(first)
        // A host has no line in its names.
        && (FIELDS.contains(&first)
            || labels.iter().any(|label| label.contains('_'))
            || labels.iter().all(|label| is_number(label) || WORDS.contains(label)))
}

/// The prefixes that vendors give their keys, or a long word of letters and digits mixed.
fn looks_like_key(word: &str) -> bool {
    const PREFIXES: [&str; 7] = ["sk-", "sk_", "pk-", "gsk_", "xai-", "AIza", "AKIA"];
    let prefixed = PREFIXES.iter().any(|prefix| word.starts_with(prefix)) && word.len() > 8;
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_*.".contains(c));
    let mixed =
        word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(|c| c.is_ascii_alphabetic());
    prefixed || (plain && mixed && word.len() >= 24)
}

/// Whether `text` is a plain name, such as a model's or an error code's: no blanks,
/// and nothing that looks like a key or a host.
#[must_use]
pub fn is_plain_name(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "._:/@-".contains(c));
    plain && !text.is_empty() && redact(text, &[]) == text
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
            ("api_key=sk-live-abc123def", "api_key=[key]"),
            ("key:sk-live-abc123def, x", "[key], x"),
            ("Incorrect\nsk-live-abc123def", "Incorrect\n[key]"),
            ("Incorrect\u{a0}sk-live-abc123def", "Incorrect\u{a0}[key]"),
            ("keys:sk-live-abc1,sk-live-abc2", "[key],[key]"),
            ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [key]"),
            ("upstream=gpu7.cluster.internal:8000", "upstream=[url]"),
            ("upstream=10.1.2.3:8000", "upstream=[url]"),
            ("failed(gpu7.cluster.internal:80)", "failed([url])"),
            ("root@gpu7.internal:/srv/models", "[url]"),
            ("at [fd00::12]:8000 now", "at [url] now"),
            ("host gpu7.prod.vendor.cloud", "host [url]"),
            ("by vllm-7.llm.svc", "by [url]"),
            (
                "Invalid 'tools[0].function.name': string too long.",
                "Invalid 'tools[0].function.name': string too long.",
            ),
            ("tools.0.custom.input_schema.type: x", "tools.0.custom.input_schema.type: x"),
            (
                "messages.0.content.1.image.source.base64.media_type: no",
                "messages.0.content.1.image.source.base64.media_type: no",
            ),
            ("image.source.base64.media_type: no", "image.source.base64.media_type: no"),
            ("input[12].call_id is too long", "input[12].call_id is too long"),
            ("'function.name' is odd", "'function.name' is odd"),
            (
                "contents[0].parts[1].inline_data.mime_type",
                "contents[0].parts[1].inline_data.mime_type",
            ),
            ("generation_config.response_json_schema", "generation_config.response_json_schema"),
            ("/messages/0/content/1/text", "/messages/0/content/1/text"),
            ("messages.0.a1b2c3d4e5f6a7b8c9d0e1f2a3", "[key]"),
            ("messages[0].gsk_a1b2c3d4e5f6a7b8c9d0", "[key]"),
            ("sk_live_abc123.input_x", "[key]"),
            ("gpu_pool/10.0.0.3", "[url]"),
            ("gpu_pool/gpu7.cluster.internal", "[url]"),
            ("gpu7.input.internal", "[url]"),
            ("messages.0.content is missing", "messages.0.content is missing"),
            ("messages.role is e.g. 1.5 long.", "messages.role is e.g. 1.5 long."),
            ("see gpt-4.1, please", "see gpt-4.1, please"),
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
