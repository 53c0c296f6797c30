//! The SSE decoder against the framing cases and against itself in other cuts.

use crate::stream::sse::{Decoder, Item};
use crate::tests::{Corpus, by_byte, corpora, pieces};
use proptest::prelude::*;
use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Read {
    /// Name and data.
    events: Vec<(Vec<u8>, Vec<u8>)>,
    comments: usize,
    too_large: bool,
    /// The event that the end of the body set free.
    last: Option<(Vec<u8>, Vec<u8>)>,
}

fn read<'b>(limit: usize, parts: impl IntoIterator<Item = &'b [u8]>) -> Read {
    let mut decoder = Decoder::new(limit);
    let mut read = Read::default();
    for mut part in parts {
        while let Some(item) = decoder.next(&mut part) {
            match item {
                Item::Event(event) => {
                    assert_eq!(event.joined, event.data.contains(&b'\n'));
                    read.events.push((event.name.to_vec(), event.data.to_vec()));
                }
                Item::Comment => read.comments += 1,
                Item::TooLarge => read.too_large = true,
            }
        }
        assert!(part.is_empty(), "all of a read is used up");
    }
    read.last = decoder.finish().map(|event| (event.name.to_vec(), event.data.to_vec()));
    read
}

fn read_every_way(body: &[u8]) -> Read {
    let whole = read(1 << 20, [body]);
    assert_eq!(whole, read(1 << 20, by_byte(body)));
    for seed in 0..16 {
        assert_eq!(whole, read(1 << 20, pieces(body, seed)));
    }
    whole
}

fn base64(text: &str) -> Vec<u8> {
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes().filter(|&byte| byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from(bits >> held & 0xFF).unwrap());
        }
    }
    out
}

#[test]
fn every_framing_case_of_the_corpus_is_read_right() {
    for corpus in corpora() {
        are_read_right(&corpus);
    }
}

fn are_read_right(corpus: &Corpus) {
    let text = std::fs::read(corpus.dir.join("sse-parse").join("cases.json")).unwrap();
    let json: Value = serde_json::from_slice(&text).unwrap();
    let cases = json["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let got = read_every_way(&base64(case["bytes_b64"].as_str().unwrap()));
        let shown = |events: &[(Vec<u8>, Vec<u8>)]| -> Vec<(String, String)> {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            events
                .iter()
                .map(|(name, data)| match text(name) {
                    name if name.is_empty() => ("message".to_owned(), text(data)),
                    name => (name, text(data)),
                })
                .collect()
        };
        let expected = |key: &str| -> Option<Vec<(String, String)>> {
            let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
            let events = case[key].as_array()?.iter();
            Some(events.map(|event| (text(event, "event"), text(event, "data"))).collect())
        };
        let mut all = got.events.clone();
        assert_eq!(Some(shown(&all)), expected("events"), "{}", case["name"]);
        all.extend(got.last);
        let flushed = expected("events_if_flushed_at_eof").or_else(|| expected("events"));
        assert_eq!(Some(shown(&all)), flushed, "{} flushed", case["name"]);
    }
}

#[test]
fn a_byte_order_mark_goes_once_and_only_at_the_start() {
    let one =
        read_every_way("\u{feff}data: a\u{feff}\n\n\u{feff}data: b\n\ndata: c\n\n".as_bytes());
    let data: Vec<_> = one.events.iter().map(|(_, data)| data.as_slice()).collect();
    assert_eq!(data, ["a\u{feff}".as_bytes(), b"c"]);
    // A piece of a mark is no mark, and hides nothing but its own line.
    for broken in
        [&b"\xEF\xBBdata: a\n\ndata: b\n\n"[..], b"\xEF\ndata: b\n\n", b"\xEF:\ndata: b\n\n"]
    {
        assert_eq!(read_every_way(broken).events.last().unwrap().1, b"b");
    }
}

#[test]
fn an_event_in_one_line_is_lent_from_the_read() {
    let body = b"data: first\n\ndata: second\r\n\r\n".to_vec();
    let within = body.as_ptr_range();
    let mut decoder = Decoder::new(100);
    let mut rest = &body[..];
    let mut count = 0;
    while let Some(Item::Event(event)) = decoder.next(&mut rest) {
        assert!(within.contains(&event.data.as_ptr()), "not copied");
        count += 1;
    }
    assert_eq!((count, decoder.held()), (2, 0));
}

#[test]
fn an_event_is_given_out_as_soon_as_its_blank_line_has_begun() {
    let mut decoder = Decoder::new(100);
    let mut rest = &b"data: x\r\n\r"[..];
    assert!(matches!(decoder.next(&mut rest), Some(Item::Event(_))));
    let mut rest = &b"\ndata: y\r\r"[..];
    let Some(Item::Event(event)) = decoder.next(&mut rest) else { panic!() };
    assert_eq!(event.data, b"y");
}

#[test]
fn the_limit_holds_for_every_way_to_make_an_event_long() {
    let limit = 1000;
    let line = |size: usize| [b"data: ", &vec![b'x'; size][..], b"\n"].concat();
    let fits = [line(limit), b"\n".to_vec()].concat();
    assert_eq!(read(limit, [&fits[..]]).events.len(), 1);
    let many = [line(500), line(499), b"\n".to_vec()].concat();
    assert_eq!(read(limit, [&many[..]]).events.len(), 1);
    for long in [
        [line(limit + 1), b"\n".to_vec()].concat(),
        [line(500), line(500), b"\n".to_vec()].concat(),
        line(limit + 1)[..limit + 7].to_vec(),
        b"data\n".repeat(limit + 2),
    ] {
        for got in
            [read(limit, [&long[..]]), read(limit, by_byte(&long)), read(limit, pieces(&long, 3))]
        {
            assert!(got.too_large && got.events.is_empty() && got.last.is_none());
        }
    }
}

#[test]
fn comments_and_unknown_lines_are_not_kept_and_end_at_the_limit() {
    for start in
        ["", ":", "data", "datax", "event:", "id:", "id", "retry: 1", " data:", "\u{feff}x"]
    {
        let mut decoder = Decoder::new(100_000);
        let mut fed = 0;
        let mut refused_at = None;
        for part in std::iter::once(start.as_bytes()).chain([&[b'x'; 1000][..]; 200]) {
            fed += part.len();
            let mut rest = part;
            while let Some(item) = decoder.next(&mut rest) {
                match item {
                    Item::TooLarge => refused_at = refused_at.or(Some(fed)),
                    other => assert_eq!(other, Item::Comment),
                }
            }
            assert!(decoder.held() <= 256, "{start}: {}", decoder.held());
        }
        let refused_at = refused_at.expect("a line without an end is refused");
        assert!((100_000..=101_010).contains(&refused_at), "{start}: {refused_at}");
    }
}

#[test]
fn many_long_lines_that_end_are_no_line_without_an_end() {
    let mut decoder = Decoder::new(1000);
    for mut part in [&b": xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nid: 7\n"[..]; 500] {
        while let Some(item) = decoder.next(&mut part) {
            assert_eq!(item, Item::Comment);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_cut_gives_the_same_events(
        lines in prop::collection::vec(
            prop_oneof![
                "(data|event|id|dat|:)(:)?( )?[a-z:\u{2028}\u{feff} ]{0,9}",
                Just(String::new()),
                Just("\u{feff}".to_owned()),
            ],
            0..24,
        ),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "\r\r"]), 24),
        cuts in prop::collection::vec(1_usize..12, 1..40),
    ) {
        let body: String = lines.iter().zip(&ends).flat_map(|(line, end)| [line.as_str(), end]).collect();
        let body = body.as_bytes();
        let mut parts = Vec::new();
        let mut rest = body;
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (part, after) = rest.split_at((*cut).min(rest.len()));
            parts.push(part);
            rest = after;
        }
        for limit in [4, 1 << 20] {
            prop_assert_eq!(read(limit, parts.iter().copied()), read(limit, [body]));
        }
    }
}
