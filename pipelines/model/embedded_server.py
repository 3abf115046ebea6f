"""The child process of EmbeddedServer: reads its settings as one JSON line, prints its address, serves.

It ends when its parent ends: the kernel's signal is the first to tell where there is one; a closed
standard input or a changed parent tells everywhere.
"""

import ctypes
import json
import os
import select
import signal
import sys
import threading
from typing import Any

_WATCH_SECONDS = 0.5
_PROMPT_CACHE_MIB = 512
_LOG_WARNINGS = 2
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve until the parent ends or a signal comes."""
    settings = json.loads(sys.stdin.readline())
    _die_with_parent(settings["parent"])
    # llama.cpp may print; only the address goes to the real standard output.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = _serve(settings)
    report.write(f"{server.listening_address}\n")
    report.close()
    threading.Event().wait()


def _serve(settings: dict[str, Any]) -> Any:
    import xllamacpp  # optional, and loaded in this process only

    params = xllamacpp.CommonParams()
    params.model.path = settings["gguf"]
    params.model_alias = {settings["model"]}
    params.api_keys = [settings["api_key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["parallel"]
    params.n_ctx = settings["context_tokens"] * settings["parallel"]
    # Without a cap llama.cpp keeps up to 8 GiB of old prompts in memory.
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.verbosity = _LOG_WARNINGS
    params.ui = False
    params.endpoint_slots = False
    return xllamacpp.Server(params)


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], _WATCH_SECONDS)
        if readable and not os.read(0, 1):
            break
    os._exit(1)


if __name__ == "__main__":
    main()
