"""How the console starts, and how it says plainly that it cannot."""

import os
import subprocess

import scripts
from console_window import console_binary, display, ready, window  # noqa: F401
from harness import ROOT, eventually


def started(tmp_path, **extra):
    """What the console says with this environment; it must end by itself."""
    env = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    env |= {"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), **extra}
    return subprocess.run(
        [str(console_binary()), "--connect", "http://127.0.0.1:1"],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )


def plainly(found, words, tmp_path):
    """One sentence on stderr and in the log, a bad end, and nothing for programmers."""
    assert found.returncode == 1, found
    said = [line for line in found.stderr.splitlines() if line.startswith("belay-console: ")]
    assert len(said) == 1 and words in said[0], found.stderr
    assert str(ROOT) not in found.stderr and "panicked" not in found.stderr
    log = (tmp_path / "belay" / "console.log").read_text()
    assert words in log, log


def test_without_a_display_it_says_so_and_logs_it(tmp_path):
    plainly(started(tmp_path), "no display can be reached", tmp_path)


def test_without_opengl_it_says_so_and_logs_it(display, tmp_path):
    # No driver is found where none is looked for.
    nowhere = {"LIBGL_DRIVERS_PATH": "/nonexistent", "__EGL_VENDOR_LIBRARY_DIRS": "/nonexistent"}
    found = started(tmp_path, DISPLAY=display, LIBGL_ALWAYS_SOFTWARE="1", **nowhere)
    plainly(found, "this display has no OpenGL", tmp_path)


def test_relays_and_looks_are_remembered_and_no_token_is(upstream, relay, display, tmp_path):
    one = relay({"alpha": upstream(scripts.answer("from alpha"))})
    files = lambda: list(tmp_path.rglob("belay/console.json"))
    with window(display, [one], tmp_path) as press:
        ready(one)
        light = lambda: any('"light": true' in file.read_text() for file in files())
        for _ in range(5):
            press("ctrl+t")
            if eventually(light, 4.0, 0.1):
                break
        assert light(), files()
        text = files()[0].read_text()
    assert one.admin in text
    assert "token" not in text
