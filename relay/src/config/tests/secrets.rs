//! Secrets are in no message and in no `Debug` print.

use super::{BASE, Fake, fake, parse, read};

#[test]
fn debug_shows_no_key_and_no_header_value() {
    let text = BASE.replace(
        "api_key = { env = \"ONE_KEY\" }",
        "api_key = { env = \"ONE_KEY\" }\n\
         headers = { api-key = { file = \"two.key\" }, X-Plain = \"hunter2\" }",
    );
    let loaded = read(&text).unwrap();
    let provider = &loaded.config.providers[0];
    assert_eq!(provider.api_key.as_ref().unwrap().expose(), "sk-one");
    let expected = [("api-key", "sk-two"), ("x-plain", "hunter2")];
    assert!(provider.headers.iter().map(|(k, v)| (&**k, &**v)).eq(expected));
    for shown in [format!("{loaded:?}"), format!("{loaded:#?}")] {
        assert!(shown.contains("[redacted]") && shown.contains("x-plain"));
        for secret in ["sk-one", "sk-two", "hunter2"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    }
}

#[test]
fn no_message_repeats_what_may_be_a_key() {
    const API_KEY: &str = "api_key = { env = \"ONE_KEY\" }";
    for (old, new) in [
        (API_KEY, "api_key = \"sk-hunter2\""),
        (API_KEY, "api_key = { env = \"sk-hunter2\" }"),
        (API_KEY, "api_key = { file = \"sk-hunter2\" }"),
        (API_KEY, "api_key = sk-hunter2"),
        (API_KEY, "api_key = \"sk-hunter2"),
        (API_KEY, "api_key = { env = \"BAD\" }"),
        (API_KEY, "headers = { authorization = \"Bearer sk-hunter2\" }"),
        (API_KEY, "headers = { x-a = \" sk-hunter2\" }"),
        ("base_url = \"https://one.example/v1\"", "base_url = \"https://sk-hunter2@one.example\""),
        (
            "base_url = \"https://one.example/v1\"",
            "base_url = \"https://one.example?k=sk-hunter2\"",
        ),
        (
            "key_sha256 = \"0000000000000000000000000000000000000000000000000000000000000001\"",
            "key_sha256 = \"sk-hunter2\"",
        ),
    ] {
        let env = Fake { vars: [("BAD", "sk-hunter2 x")].into(), ..fake() };
        assert_eq!(BASE.matches(old).count(), 1, "{old}");
        let refused = parse(&BASE.replace(old, new), &env).expect_err(new);
        let shown = format!("{refused} {refused:?}");
        assert!(!shown.contains("hunter2"), "{new}: {shown}");
    }
}
