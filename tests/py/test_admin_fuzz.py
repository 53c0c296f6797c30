"""The admin API, called by a fuzzer with whatever its OpenAPI document allows and does not allow."""

import hashlib
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

import scripts
from harness import HERE
from test_openai_sdk import ask, text_of

TOKENS = {"operator": "an-operators-token", "viewer": "a-viewers-token"}
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,response_headers_conformance"
)
# The feed has no end; it is read in tests/suite/admin/feed.rs.
ENDLESS = "feed"


def sha256(token):
    return hashlib.sha256(token.encode()).hexdigest()


@pytest.fixture
def at(upstream, relay):
    """A relay with an operator's and a viewer's token, and two rungs that answer."""
    tokens = ", ".join(
        f'{{ name = "{role}", role = "{role}", sha256 = "{sha256(token)}" }}'
        for role, token in TOKENS.items()
    )
    upstreams = {name: upstream(scripts.answer(f"from {name}")) for name in ("a", "b")}
    return relay(upstreams, admin=f"tokens = [{tokens}]")


def call(relay, method, path, token=None, body=None):
    """Status and body of a call on the admin API."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(relay.admin + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def document(relay):
    status, found = call(relay, "GET", "/admin/v1/openapi.json", TOKENS["viewer"])
    assert status == 200
    return found


def fuzz(relay, folder, checks, examples, *options, token=None):
    """Runs schemathesis against the relay's own document; fails with what it says."""
    place = folder / "openapi.json"
    place.write_text(json.dumps(document(relay)))
    headers = ["--header", f"Authorization: Bearer {token}"] if token else []
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", str(place),
        "--url", relay.admin, "--checks", checks, "--max-examples", str(examples),
        "--generation-deterministic", "--workers", "1", "--no-color", "--no-shrink",
        "--continue-on-failure", "--request-timeout", "35", "--warnings", "off",
        "--suppress-health-check", "all", "--phases", "examples,coverage,fuzzing",
        "--exclude-operation-id", ENDLESS, *headers, *options,
    ]  # fmt: skip
    env = {**os.environ, "SCHEMATHESIS_HOOKS": "fuzz_hooks", "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-4000:]
    return done.stdout


def undo_all(relay):
    """Back to the breakers and to the config's orders."""
    things = [f"/admin/v1/rungs/{rung}/override" for rung in ("a", "b")]
    for number, path in enumerate([*things, "/admin/v1/ladders/chat/order"]):
        _, now = call(relay, "GET", path, TOKENS["viewer"])
        request = urllib.request.Request(
            relay.admin + path,
            json.dumps({"id": f"after-the-fuzz-{number}", "reason": "a test's end"}).encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {TOKENS['operator']}",
                "If-Match": str(now["version"]),
            },
            method="DELETE",
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200


def still_serves(relay, sdk):
    """It is alive, ready, and answers a plain request through its ladder."""
    assert relay.process.child.poll() is None, "the relay is gone"
    with urllib.request.urlopen(relay.admin + "/readyz", timeout=10) as answer:
        assert answer.status == 200 and json.load(answer)["ready"]
    assert text_of(ask(sdk(relay), stream=True)) in ("from a", "from b")


def test_what_an_operator_may_send_is_answered_as_the_document_says(at, sdk, tmp_path):
    still_serves(at, sdk)
    fuzz(at, tmp_path, CHECKS, 150, token=TOKENS["operator"])
    log = (tmp_path / "relay0" / "stderr.log").read_text()
    assert "panicked" not in log, log[-4000:]
    # It got beyond refusals: something was changed, checked and noted.
    _, page = call(at, "GET", "/admin/v1/actions?limit=500", TOKENS["viewer"])
    assert {action["kind"] for action in page["items"]} >= {"change", "check", "note"}
    undo_all(at)
    still_serves(at, sdk)


@pytest.mark.parametrize("who", ["viewer", "nobody"])
def test_who_is_no_operator_changes_nothing(at, sdk, tmp_path, who):
    checks = f"changes_nothing,{CHECKS}"
    fuzz(
        at, tmp_path, checks, 10, "--include-method", "POST", "--include-method", "PUT",
        "--include-method", "DELETE", token=TOKENS.get(who),
    )  # fmt: skip
    _, page = call(at, "GET", "/admin/v1/actions", TOKENS["viewer"])
    assert page["items"] == []
    still_serves(at, sdk)


def test_who_is_no_operator_is_refused_what_an_operator_may(at):
    """The same with bodies that are right: only the token stands against them."""
    words = {"id": "id-1", "reason": "a test"}
    change = {"rung": "a", "mode": "demoted"}
    bodies = {
        "change": {**words, "changes": [change]},
        "preview": {**words, "changes": [change]},
        "put_override": {**words, "mode": "demoted"},
        "put_order": {**words, "rungs": ["b", "a"]},
        "note": {"id": "id-1", "text": "a test"},
    }
    tried = 0
    for path, operations in document(at)["paths"].items():
        for method, operation in operations.items():
            if method == "get":
                continue
            tried += 1
            body = bodies.get(operation["operationId"], words)
            place = path.format(rung="a", ladder="chat", id="id-1")
            for token, status in [(TOKENS["viewer"], 403), (None, 401), ("wrong", 401)]:
                if token == "wrong" and tried > 5:
                    continue  # Twenty of them, and everybody waits.
                found, refusal = call(at, method.upper(), place, token, body)
                assert found == status, (method, path, refusal)
                assert refusal["error"]["message"]
    assert tried == 11
