"""Names of files that try to mislead whoever takes the results."""

from .trap import Trap

TRAPS = (
    Trap(
        name="control-characters-in-names",
        program="""
for name in (b"new\\nline", b"a\\t", b"escape\\x1b[2J", b"bell\\x07", b"return\\r", b"delete\\x7f", b"\\x01"):
    open(name, "w").close()
""",
        refused={"new\\nline": "control", "escape\\x1b[2J": "control", "return\\r": "control"},
        refused_count=7,
    ),
    Trap(
        name="names-that-are-no-text",
        program="""
for name in (b"latin\\xff", b"\\xc3", b"cut\\xe2\\x82", b"surrogate\\xed\\xa0\\x80", b"long\\xc0\\xaf"):
    open(name, "w").close()
os.mkdir(b"folder\\xfe"); open(b"folder\\xfe/inside", "w").close()
""",
        refused_count=6,
    ),
    Trap(
        name="names-like-options",
        program="""
for name in ("--checkpoint=1", "--checkpoint-action=exec=sh evil", "-rf", "--", "-", "--to-command=sh evil",
             "--use-compress-program=sh", "-e sh", "@list", "~", "$HOME", "`id`", ";id", "*", "a b"):
    open(name, "w").write("1")
open("evil", "w").write("echo EXECUTED > /work/executed")
""",
        files={
            **dict.fromkeys(
                (
                    *("--checkpoint=1", "--checkpoint-action=exec=sh evil", "-rf", "--", "-"),
                    *("--to-command=sh evil", "--use-compress-program=sh", "-e sh", "@list", "~"),
                    *("$HOME", "`id`", ";id", "*", "a b"),
                ),
                b"1",
            ),
            "evil": b"echo EXECUTED > /work/executed",
        },
    ),
    Trap(
        name="names-like-paths",
        program="""
for name in ("..\\\\up", "C:\\\\windows", "...", ".. ", " ..", "..%2f..", "\\u2024\\u2024",
             "\\uff0e\\uff0e", "%00"):
    open(name, "w").write("1")
os.makedirs("a"); open("a/b", "w").write("1"); os.makedirs(".git/hooks")
open(".git/hooks/pre-commit", "w").write("x")
""",
        files={
            **dict.fromkeys(
                (
                    "..\\up",
                    "C:\\windows",
                    "...",
                    ".. ",
                    " ..",
                    "..%2f..",
                    "\u2024\u2024",
                    "\uff0e\uff0e",
                    "%00",
                ),
                b"1",
            ),
            "a/b": b"1",
            ".git/hooks/pre-commit": b"x",
        },
    ),
    Trap(
        name="names-as-long-as-they-get",
        program="""
open("n" * 255, "w").write("1")
os.chdir("/work")
for level in range(8):
    os.mkdir("d" * 200); os.chdir("d" * 200)
open("f", "w").write("1")
""",
        files={"n" * 255: b"1"},
        refused_count=1,
    ),
    Trap(
        name="folders-deeper-than-anyone-looks",
        program="""
for level in range(60):
    os.mkdir("d"); os.chdir("d")
open("f", "w").write("1")
""",
        refused_count=1,
    ),
    Trap(
        name="names-that-differ-by-little",
        program="""
for name in ("readme", "README", "Readme", "caf\\u00e9", "cafe\\u0301", "x", "x.", "x "):
    open(name, "w").write(name)
""",
        files={
            name: name.encode()
            for name in ("readme", "README", "Readme", "caf\u00e9", "cafe\u0301", "x", "x.", "x ")
        },
    ),
)
