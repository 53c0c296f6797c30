"""The clients of one package as a program, since not all fit in one Python; it answers in JSON.

A client is a function of the relay's URL, of the words to ask, and of `say`, which takes the text
as it comes. All of a package ask at once, each for every kind of stream.
"""

import asyncio
import contextlib
import inspect
import json
import sys
from concurrent.futures import ThreadPoolExecutor

KINDS = ("whole", "broken")


def question(name, kind):
    """Words that tell the upstream who asks, and for which kind of stream."""
    return f"Count, in JSON, for <{name}: {kind}>."


def ask(read, url, name, kind):
    """The text that a client read, and its error."""
    text = []
    error = None
    try:
        done = read(url, question(name, kind), text.append)
        if inspect.isawaitable(done):
            asyncio.run(done)
    except Exception as caught:
        error = {"type": type(caught).__name__, "message": str(caught)}
    return {"name": name, "kind": kind, "text": "".join(text), "error": error}


def run(packages):
    """`PACKAGE URL`: asks, and prints what became of it."""
    package, url = sys.argv[1:]
    clients = packages[package]
    with (
        contextlib.redirect_stdout(sys.stderr),
        ThreadPoolExecutor(len(clients) * len(KINDS)) as pool,
    ):
        jobs = [
            pool.submit(ask, read, url, name, kind)
            for name, read in clients.items()
            for kind in KINDS
        ]
        answers = [job.result() for job in jobs]
    print(json.dumps(answers))
