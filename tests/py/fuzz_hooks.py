"""What schemathesis is told beside the document: names that exist, and who may not change anything.

Names made of random letters reach nothing but a 404, so most of what is generated is given real
ones. Everything is drawn from what was generated, so that the same seed gives the same calls.
"""

import collections
import json
import zlib

import schemathesis

RUNGS = ["a", "b"]
LADDERS = ["chat"]
TOKEN_NAMES = ["operator", "viewer"]
# Ids that were sent of late: what was done under some of them can be undone, and asked for again.
SENT = collections.deque(["nothing-yet"], maxlen=20)
# What a filter may be, beside a name that is there.
ODD = ["nobody", "ä€\U0001f600", "nul\0", "%", "' OR 1 --", "x" * 3000]
KNOWN = {"rung": RUNGS, "provider": RUNGS, "domain": RUNGS, "ladder": LADDERS}


def draw(value, choices, of=None):
    """One of `choices`, or `value` itself for one in eight; which, `of` (or `value`) decides."""
    text = json.dumps(value if of is None else of, sort_keys=True, default=repr)
    number = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    return value if number % 8 == 0 else choices[number // 8 % len(choices)]


def named(part):
    """`part` with known names where it names something."""
    if isinstance(part, list):
        return [named(item) for item in part]
    if not isinstance(part, dict):
        return part
    out = {key: named(value) for key, value in part.items()}
    for key, names in KNOWN.items():
        if isinstance(out.get(key), str):
            out[key] = draw(out[key], names)
    for key in ("order", "rungs"):
        if isinstance(out.get(key), list):
            out[key] = draw(out[key], [RUNGS, RUNGS[::-1]])
    if isinstance(out.get("accept"), list):
        out["accept"] = draw(out["accept"], [LADDERS, []])
    if isinstance(out.get("expect"), dict):
        out["expect"] = draw(out["expect"], [{"chat": version} for version in range(4)])
    return out


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Paths of rungs and ladders that are there."""
    if not path_parameters:
        return path_parameters
    out = named(path_parameters)
    if isinstance(out.get("id"), str):
        out["id"] = draw(out["id"], list(SENT))
    return out


@schemathesis.hook
def map_query(context, query):
    """Filters by names that are there, or are odd; and fewer times, most of which cannot be."""
    if not query:
        return query
    out = dict(query)
    for key in ("rung", "ladder", "tried", "answered_by", "client", "by", "cursor"):
        if isinstance(out.get(key), str) and out[key] not in ("rung", "ladder"):
            out[key] = draw(out[key], [*RUNGS, *LADDERS, *TOKEN_NAMES, *ODD], of=query)
    for key in ("since", "until"):
        if key in out and draw(True, [True, False], of=query):
            del out[key]
    return out


@schemathesis.hook
def map_body(context, body):
    """Bodies about rungs and ladders that are there."""
    if isinstance(body, dict) and isinstance(body.get("id"), str):
        SENT.append(body["id"])
    return named(body)


@schemathesis.hook
def map_headers(context, headers):
    """Versions that are now and then those of now."""
    if headers and isinstance(headers.get("If-Match"), str):
        headers["If-Match"] = draw(headers["If-Match"], ["*", '"0"', '"1"', "*"])
    return headers


@schemathesis.check
def changes_nothing(ctx, response, case):
    """For who may not change anything: nothing but reading is done."""
    assert case.method == "GET" or response.status_code >= 400, "it was done"
