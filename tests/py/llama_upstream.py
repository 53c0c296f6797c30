"""Runs llama.cpp's own server in a process of its own: `llama_upstream.py MODEL CONTEXT SLOTS`.

Prints `listening on http://127.0.0.1:PORT` when it serves, and ends when its standard input does,
so that it never outlives the test that started it. Apart from the tests because llama.cpp is
native code: if it dies, it dies alone.
"""

import os
import sys

# A file in the current folder that is named like a standard module makes this import segfault.
sys.path = [entry for entry in sys.path if entry not in ("", os.getcwd())]

import xllamacpp  # noqa: E402


def main(model, context, slots):
    """Serve `model` until standard input ends."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # llama.cpp divides the context among the slots.
    params.n_ctx = context * slots
    params.n_parallel = slots
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 8
    params.cache_ram_mib = 0
    params.fit_params = False
    params.endpoint_slots = True
    params.endpoint_metrics = True
    params.ui = False
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}", flush=True)
    sys.stdin.read()
    # The native threads are not worth an orderly end.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
