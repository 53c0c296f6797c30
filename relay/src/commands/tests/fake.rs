//! A relay's admin plane, played: it notes what it is asked and answers as it is told.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One call.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) head: String,
    pub(super) body: String,
}

impl Seen {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What it answers.
#[derive(Debug)]
pub(super) enum Reply {
    Json(u16, String),
    /// The connection is closed without an answer.
    Drop,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::Json(status, body.to_string())
    }
}

/// The played relay.
pub(super) struct Fake {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    pub(super) fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &noted, &answer);
            }
        });
        Self { url, seen }
    }

    /// An address at which nobody listens.
    pub(super) fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    }

    fn all(&self, method: &str, path: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| seen.method == method && seen.path == path).cloned().collect()
    }

    pub(super) fn count(&self, method: &str, path: &str) -> usize {
        self.all(method, path).len()
    }

    /// The only call of this kind.
    #[track_caller]
    pub(super) fn only(&self, method: &str, path: &str) -> Seen {
        let all = self.all(method, path);
        assert_eq!(all.len(), 1, "{method} {path}: {:#?}", self.seen.lock().unwrap());
        all[0].clone()
    }
}

fn serve(stream: TcpStream, noted: &Mutex<Vec<Seen>>, answer: &impl Fn(&Seen) -> Reply) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if line == "\r\n" {
            break;
        }
        head += &line;
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let mut words = head.split_whitespace();
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let seen = Seen {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: String::from_utf8(body).unwrap(),
        head: head.clone(),
    };
    let reply = answer(&seen);
    noted.lock().unwrap().push(seen);
    if let Reply::Json(status, body) = reply {
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        // A caller that gave up is no failure of the test.
        let _gone = reader.get_mut().write_all(text.as_bytes());
    }
}
