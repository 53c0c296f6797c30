//! The provider's side of a connection: reads requests, plays replies.

use super::State;
use super::call::Call;
use super::reply::{Framing, Reply, Step};
use crate::clock;
use socket2::SockRef;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

/// What came of one reply.
#[derive(PartialEq, Eq)]
enum Played {
    /// The connection can take another request.
    Whole,
    /// It is to be closed.
    Close,
    /// It is to be reset.
    Reset,
}

/// A request as it was read.
struct Request {
    request_line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

pub(super) async fn accept(listener: TcpListener, state: Arc<State>, tls: Option<TlsAcceptor>) {
    while let Ok((stream, _)) = listener.accept().await {
        let connection = state.connections.fetch_add(1, Ordering::SeqCst);
        state.open.fetch_add(1, Ordering::SeqCst);
        let (state, tls) = (state.clone(), tls.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            // A second handle on the socket: through TLS there is no other way to reset it.
            let stream = stream.into_std().unwrap();
            let handle = stream.try_clone().unwrap();
            let stream = TcpStream::from_std(stream).unwrap();
            let played = match tls {
                None => talk(stream, connection, &state).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => talk(stream, connection, &state).await,
                    Err(_) => Played::Close,
                },
            };
            if played == Played::Reset {
                let _ = SockRef::from(&handle).set_linger(Some(Duration::ZERO));
            } else {
                // `handle` still holds the socket: say goodbye explicitly.
                let _ = handle.shutdown(std::net::Shutdown::Write);
            }
            drop(handle);
            state.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Serves one connection to its end.
///
/// A reset is only armed here: it happens when the last handle is dropped.
async fn talk<S>(stream: S, connection: usize, state: &Arc<State>) -> Played
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (reader, mut writer) = tokio::io::split(stream);
    let (requests, mut incoming) = mpsc::unbounded_channel();
    let (closing, closed) = watch::channel(None);
    let reading = tokio::spawn(read_requests(reader, requests, closing.clone()));
    let mut on_connection = 0;
    let mut played = Played::Whole;
    while played == Played::Whole {
        let Some(request) = incoming.recv().await else {
            played = Played::Close;
            break;
        };
        let call = enter(state, connection, on_connection, request, closed.clone());
        on_connection += 1;
        let reply = (state.script.lock().unwrap())(&call);
        let mut gone = closed.clone();
        played = tokio::select! {
            biased;
            _ = gone.wait_for(Option::is_some) => Played::Close,
            played = play(reply, &call, &mut writer) => played,
        };
    }
    reading.abort();
    let _ = reading.await;
    // Whoever closed it: it is closed.
    closing.send_if_modified(|at| at.replace(at.unwrap_or_else(clock::now)).is_none());
    played
}

fn enter(
    state: &State,
    connection: usize,
    on_connection: usize,
    request: Request,
    closed: watch::Receiver<Option<Instant>>,
) -> Arc<Call> {
    let mut calls = state.calls.lock().unwrap();
    let call = Arc::new(Call {
        n: calls.len(),
        connection,
        on_connection,
        at: clock::now(),
        request_line: request.request_line,
        headers: request.headers,
        body: request.body,
        writes: Mutex::default(),
        whole: AtomicBool::new(false),
        closed,
    });
    calls.push(call.clone());
    call
}

async fn play(reply: Reply, call: &Call, writer: &mut (impl AsyncWrite + Unpin)) -> Played {
    let sent = async {
        tokio::time::sleep(reply.before_head).await;
        if let Some((status, headers)) = &reply.head {
            let head = head(*status, headers, &reply);
            writer.write_all(head.as_bytes()).await?;
            writer.flush().await?;
        }
        for step in &reply.steps {
            match step {
                Step::Send(bytes) => send(bytes, reply.framing, call, writer).await?,
                Step::Flood(bytes) => loop {
                    send(bytes, reply.framing, call, writer).await?;
                },
                Step::Pause(span) => tokio::time::sleep(*span).await,
                Step::Hold => std::future::pending::<()>().await,
                Step::Reset => return Ok(Played::Reset),
                Step::Close => return Ok(Played::Close),
            }
        }
        if reply.framing == Framing::Chunked {
            writer.write_all(b"0\r\n\r\n").await?;
            writer.flush().await?;
        }
        call.whole.store(true, Ordering::SeqCst);
        let open = reply.framing != Framing::Connection;
        Ok::<_, std::io::Error>(if open { Played::Whole } else { Played::Close })
    };
    sent.await.unwrap_or(Played::Close)
}

async fn send(
    bytes: &[u8],
    framing: Framing,
    call: &Call,
    writer: &mut (impl AsyncWrite + Unpin),
) -> std::io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let framed = if framing == Framing::Chunked {
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        framed
    } else {
        bytes.to_vec()
    };
    // Noted before the write: the relay's clocks cannot start earlier than this.
    call.writes.lock().unwrap().push((clock::now(), bytes.len()));
    writer.write_all(&framed).await?;
    writer.flush().await
}

fn head(status: u16, headers: &[(String, String)], reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    match reply.framing {
        Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
        Framing::Length => {
            let length: usize = reply
                .steps
                .iter()
                .map(|step| if let Step::Send(bytes) = step { bytes.len() } else { 0 })
                .sum();
            let _ = write!(head, "content-length: {length}\r\n");
        }
        Framing::Connection => head.push_str("connection: close\r\n"),
    }
    head.push_str("\r\n");
    head
}

/// Reads requests until the peer closes, and says when it did.
async fn read_requests(
    mut reader: impl AsyncRead + Unpin,
    requests: mpsc::UnboundedSender<Request>,
    closing: watch::Sender<Option<Instant>>,
) {
    let mut pending = Vec::new();
    let mut block = vec![0; 64 * 1024];
    loop {
        while let Some((request, length)) = parse(&pending) {
            pending.drain(..length);
            let _ = requests.send(request);
        }
        match reader.read(&mut block).await {
            Ok(0) | Err(_) => break,
            Ok(length) => pending.extend_from_slice(&block[..length]),
        }
    }
    closing.send_replace(Some(clock::now()));
}

/// The first whole request in `bytes`, and its length.
fn parse(bytes: &[u8]) -> Option<(Request, usize)> {
    let head_end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..head_end]).expect("a head is text");
    let mut lines = head.split("\r\n");
    let request_line = lines.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let find = |wanted: &str| {
        headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };
    let start = head_end + 4;
    if find("transfer-encoding").is_some() {
        let (body, length) = crate::client::dechunk(&bytes[start..])?;
        return Some((Request { request_line, headers, body }, start + length));
    }
    let length = find("content-length").map_or(0, |text| text.parse().expect("a length"));
    let body = bytes.get(start..start + length)?.to_vec();
    Some((Request { request_line, headers, body }, start + length))
}
