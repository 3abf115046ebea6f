"""A package index on this machine, with wheels made on the spot."""

import base64
import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class PackageIndex:
    """A folder in the form of PEP 503; `hold()` makes it keep its callers waiting."""

    root: Path
    url: str = ""

    def __post_init__(self) -> None:
        self._open = threading.Event()
        self._open.set()

    def hold(self) -> None:
        self._open.clear()

    def go_on(self) -> None:
        self._open.set()

    def wait(self) -> None:
        self._open.wait(60)

    def add_wheel(
        self,
        name: str,
        version: str,
        files: Mapping[str, str | bytes] | None = None,
        *,
        requires: Sequence[str] = (),
        tag: str = "py3-none-any",
        modes: Mapping[str, int] | None = None,
    ) -> None:
        """Offer a wheel; by default with one module of the package's name that knows its version."""
        contents = files if files is not None else {f"{name}.py": f"version = {version!r}\n"}
        info = f"{name}-{version}.dist-info"
        metadata = "".join(f"Requires-Dist: {one}\n" for one in requires)
        everything: dict[str, str | bytes] = {
            **contents,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}",
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
        }
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        archive = _zipped(everything, f"{info}/RECORD", modes or {})
        (folder / f"{name}-{version}-{tag}.whl").write_bytes(archive)

    def add_source(self, name: str, version: str) -> None:
        """Offer a source archive only. What is in it does not matter: it must not even be opened."""
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        (folder / f"{name}-{version}.tar.gz").write_bytes(b"never opened")


@contextmanager
def serve(root: Path) -> Iterator[PackageIndex]:
    """Serve an empty index over HTTP on loopback."""
    root.mkdir()
    index = PackageIndex(root)

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            index.wait()
            super().do_GET()

        def log_message(self, *_args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128  # the installer asks for everything at once

    server = Server(("127.0.0.1", 0), partial(Handler, directory=str(root)))
    index.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield index
    finally:
        index.go_on()
        server.shutdown()
        thread.join()
        server.server_close()


def _zipped(files: Mapping[str, str | bytes], record: str, modes: Mapping[str, int]) -> bytes:
    buffer, lines = io.BytesIO(), []
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(data)}")
            member = zipfile.ZipInfo(path)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = modes.get(path, 0o100644) << 16
            archive.writestr(member, data)
        archive.writestr(record, "\n".join([*lines, f"{record},,"]) + "\n")
    return buffer.getvalue()


@contextmanager
def only_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """Serve an index below the folder as the only one that this process knows."""
    for name in list(os.environ):
        if name.startswith(("UV_", "PIP_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    with serve(folder / "index") as served:
        monkeypatch.setenv("UV_DEFAULT_INDEX", served.url)
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        yield served
