"""Kinds, sizes and contents of files that try to harm whoever takes the results."""

import io
import tarfile

from sandbox.protocol import MIB

from .trap import Trap


def _archive() -> bytes:
    """A tar file with a member that leaves the folder, cut short; its end marks lie within the outer one."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        member = tarfile.TarInfo("../../escaped")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"evil"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
    return content.getvalue()[:3000]


_ARCHIVE = _archive()

TRAPS = (
    Trap(
        name="links-out",
        program="""
os.symlink("/etc/passwd", "absolute"); os.symlink("../../../../etc/passwd", "relative")
os.symlink(BAIT["file"], "planted"); os.symlink("nowhere", "dangling"); os.symlink("loop", "loop")
os.symlink("/", "root"); os.symlink("/proc/self/environ", "environment"); os.symlink("fine", "inside")
open("fine", "w").write("fine")
""",
        files={"fine": b"fine"},
        refused=dict.fromkeys(
            ("absolute", "relative", "planted", "dangling", "loop", "root", "environment", "inside"), "link"
        ),
    ),
    Trap(
        name="folder-that-is-a-link",
        program="""
os.mkdir("real"); open("real/f", "w").write("1")
os.symlink("real", "d"); os.symlink("/etc", "e")
""",
        files={"real/f": b"1"},
        refused={"d": "link", "e": "link"},
        refused_count=2,
    ),
    Trap(
        name="pipe-socket-and-device",
        program="""
import socket
os.mkfifo("pipe"); os.mkfifo("d.txt"); socket.socket(socket.AF_UNIX).bind("socket")
""",
        refused={"pipe": "not a regular file", "d.txt": "not a regular file"},
    ),
    Trap(
        name="set-user-id-files",
        program="""
for name, mode in (("user", 0o4755), ("group", 0o2755), ("both", 0o6755), ("sticky", 0o1755), ("none", 0)):
    open(name, "w").write("1"); os.chmod(name, mode)
""",
        files={"sticky": b"1"},
        either={"none": b"1"},
        refused={"user": "set-user-id", "group": "set-user-id", "both": "set-user-id"},
    ),
    Trap(
        name="hard-links",
        program="""
open("one", "w").write("1"); os.link("one", "two")
for path in ("/usr/bin/su", "/bin/mount", "/etc/passwd", BAIT["file"]):
    attempt(path, os.link, path, "/work/" + path.replace("/", "_"))
""",
        files={"one": b"1", "two": b"1"},
        refused_count=0,
    ),
    Trap(
        name="one-sparse-file-too-large",
        program="""
with open("sparse", "wb") as file:
    file.truncate(20 << 20)
open("after", "w").write("1")
""",
        files={"after": b"1"},
        refused={"sparse": f"larger than {8 * MIB} bytes"},
    ),
    Trap(
        name="a-sparse-file-beyond-everything",
        program="""
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("sparse", "wb") as file:
    attempt("terabyte", file.truncate, 1 << 40)
os.unlink("sparse")
""",
    ),
    Trap(
        name="many-sparse-files",
        program="""
for number in range(12):
    with open(f"s{number:02}", "wb") as file:
        file.truncate(7 << 20)
""",
        some_of={f"s{number:02}": bytes(7 * MIB) for number in range(12)},
        some_count=9,
        refused_count=3,
    ),
    Trap(
        name="more-files-than-may-come-back",
        program="""
os.mkdir("many")
for number in range(2100):
    open(f"many/{number:04}", "w").close()
""",
        some_of={f"many/{number:04}": b"" for number in range(2100)},
        some_count=2000,
        refused_count=100,
    ),
    Trap(
        name="a-file-that-is-an-archive",
        program="""
open("a", "wb").write(bytes.fromhex('"""
        + _ARCHIVE.hex()
        + """'))
open("b", "w").write("after")
""",
        files={"a": _ARCHIVE, "b": b"after"},
    ),
    Trap(
        name="files-that-nobody-may-read",
        program="""
os.mkdir("closed"); open("closed/f", "w").write("1"); os.chmod("closed", 0)
open("open", "w").write("1")
""",
        files={"open": b"1"},
        either={"closed/f": b"1"},
    ),
    Trap(
        name="the-work-folder-read-only",
        program="open('f', 'w').write('1'); os.chmod('/work', 0o500)",
        files={"f": b"1"},
    ),
    Trap(
        name="the-work-folder-closed",
        program="open('f', 'w').write('1'); os.chmod('/work', 0)",
        either={"f": b"1"},
    ),
)
