"""What the tests drive: the relay as a process, upstreams that follow a script, llama.cpp."""

import contextlib
import json
import os
import pathlib
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
START_LIMIT = 30.0


def belay_binary() -> pathlib.Path:
    """The relay under test."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return pathlib.Path(os.environ.get("BELAY_BIN", target / "debug" / "belay")).absolute()


def eventually(what, limit=5.0, pause=0.01):
    """The first true value of `what()`, or its last one when the time is up."""
    end = time.monotonic() + limit
    while True:
        value = what()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)


class Process:
    """A child whose output is read to its end, so that it never blocks on a full pipe."""

    def __init__(self, command, log, **options):
        self.log = log
        self.lines = queue.Queue()
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(log, "wb"),
            text=True,
            **options,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def wait_for(self, start):
        """What follows `start` on the first line that begins with it."""
        end = time.monotonic() + START_LIMIT
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                text = pathlib.Path(self.log).read_text(errors="replace")[-4000:]
                raise AssertionError(f"{self.child.args[0]} never said {start!r}; stderr:\n{text}")
            if line.startswith(start):
                return line[len(start):].strip()

    def close(self):
        """End it: asked first, then made."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(10)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        self.child.stdin.close()


class Relay:
    """A running `belay serve`, one rung per upstream, one ladder named `chat` over all of them.

    `ladder` is TOML text for `[ladders.chat]`, `admin` for `[admin]`, `rungs` maps a rung to TOML
    text of its own, `more` is appended to the file, `server` is for `[server]`.
    """

    def __init__(self, folder, upstreams, ladder="", rungs=None, more="", admin="", server=""):
        parts = [
            f'[server]\nlisten = "127.0.0.1:0"\n{server}',
            f'[admin]\nlisten = "127.0.0.1:0"\n{admin}',
            f'[journal]\npath = "{folder}/belay.db"',
        ]
        for name, upstream in upstreams.items():
            parts.append(
                f'[providers.{name}]\ndialect = "openai-chat"\nbase_url = "{upstream.url}/v1"\n'
                f'api_key = {{ env = "UPSTREAM_KEY" }}'
            )
            parts.append(
                f'[rungs.{name}]\nprovider = "{name}"\nmodel = "{name}-model"\n'
                f'supports = ["tools", "parallel_tools", "json_schema", "images"]\n'
                f'price = {{ input = 1.0, output = 2.0 }}\n'
                + (rungs or {}).get(name, "")
            )
        parts.append(f"[ladders.chat]\nrungs = {json.dumps(list(upstreams))}\n{ladder}")
        parts.append(more)
        config = folder / "belay.toml"
        config.write_text("\n\n".join(parts) + "\n")
        self.process = Process(
            [str(belay_binary()), "serve", "--config", str(config)],
            folder / "stderr.log",
            cwd=folder,
            env={**os.environ, "UPSTREAM_KEY": "sk-upstream-secret"},
        )
        try:
            self.url = self.process.wait_for("belay: serving on ")
            self.admin = self.process.wait_for("belay: admin on ")
        except AssertionError:
            self.process.close()
            raise

    def get(self, path):
        """A GET on the admin API, as JSON."""
        with urllib.request.urlopen(self.admin + path, timeout=10) as answer:
            return json.load(answer)

    def requests(self, count=1):
        """What the journal has, newest first, once at least `count` requests have ended."""

        def ended():
            rows = self.get("/admin/v1/requests")["items"]
            done = len(rows) >= count and all(row["outcome"] for row in rows)
            return rows if done else None

        rows = eventually(ended)
        assert rows, f"the journal never showed {count} ended: {self.get('/admin/v1/requests')}"
        return rows

    def attempts(self, request):
        """The attempts of one request."""
        return self.get(f"/admin/v1/requests/{request['id']}")["attempts"]

    def close(self):
        """Stop it."""
        self.process.close()


class Llama:
    """A real llama.cpp server on the tiny model."""

    SLOTS = 2

    def __init__(self, model, context):
        self.process = Process(
            [sys.executable, str(HERE / "llama_upstream.py"), model.name, str(context), "2"],
            model.parent / f"llama-{context}.log",
            cwd=model.parent,
        )
        self.url = self.process.wait_for("listening on ")

    def busy(self):
        """How many slots are generating."""
        with urllib.request.urlopen(self.url + "/slots", timeout=10) as answer:
            return sum(slot["is_processing"] for slot in json.load(answer))

    def close(self):
        """Stop it."""
        self.process.close()


class Call:
    """One request as an upstream saw it, and the connection to answer it on."""

    def __init__(self, connection, head, body):
        self.connection = connection
        lines = head.decode("latin-1").split("\r\n")
        self.line = lines[0]
        pairs = (line.split(":", 1) for line in lines[1:] if ":" in line)
        self.headers = {name.strip().lower(): value.strip() for name, value in pairs}
        self.body = json.loads(body) if body else None
        self.gone_at = None

    def send(self, data):
        """Write raw bytes."""
        self.connection.sendall(data)

    def head(self, status=200, headers=(), kind="text/event-stream"):
        """Write a head whose body is chunked."""
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", "Transfer-Encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in headers]
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode())

    def event(self, payload):
        """Write one SSE event as one chunk; a dict becomes JSON."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        data = f"data: {text}\n\n".encode()
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self):
        """End the chunked body properly."""
        self.send(b"0\r\n\r\n")

    def reset(self):
        """Cut the connection with a RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def cut(self):
        """Close in the middle of the chunked body."""
        self.connection.shutdown(socket.SHUT_RDWR)

    def wait_gone(self, limit=10.0):
        """Wait until the caller has closed; notes when."""
        self.connection.settimeout(limit)
        try:
            while self.connection.recv(4096):
                pass
        except TimeoutError:
            return
        except OSError:
            pass
        self.gone_at = time.monotonic()


class Upstream:
    """A raw HTTP/1.1 server that follows scripts: one per request, the last one for all others."""

    def __init__(self, scripts):
        self.scripts = list(scripts)
        self.calls = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            buffer = b""
            while True:
                try:
                    while b"\r\n\r\n" not in buffer:
                        more = connection.recv(65536)
                        if not more:
                            return
                        buffer += more
                    head, buffer = buffer.split(b"\r\n\r\n", 1)
                    call = Call(connection, head, b"")
                    length = int(call.headers.get("content-length", 0))
                    while len(buffer) < length:
                        buffer += connection.recv(65536)
                    body, buffer = buffer[:length], buffer[length:]
                    call.body = json.loads(body) if body else None
                    with self.lock:
                        script = self.scripts[min(len(self.calls), len(self.scripts) - 1)]
                        self.calls.append(call)
                    script(call)
                    if connection.fileno() < 0:
                        return
                except OSError:
                    return

    def close(self):
        """Stop listening."""
        # Who waits in accept would keep the port, and answer the next test's call.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
