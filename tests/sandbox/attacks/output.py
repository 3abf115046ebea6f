"""Floods of output in every shape; `test_attacks` checks the size of what is kept."""

from dataclasses import replace

from sandbox import LimitKind

from .attack import QUICK, Attack

_LIMITS = replace(QUICK, wall_seconds=8)
_OUTPUT: frozenset[LimitKind | None] = frozenset({LimitKind.OUTPUT})

ATTACKS = (
    Attack(name="flood-of-output", shell=True, program="yes", limits=_LIMITS, named=_OUTPUT),
    Attack(name="flood-of-errors", shell=True, program="yes >&2", limits=_LIMITS, named=_OUTPUT),
    Attack(name="flood-of-both", shell=True, program="yes >&2 & yes", limits=_LIMITS, named=_OUTPUT),
    Attack(
        name="flood-in-one-line",
        program="while True: os.write(1, b'x' * 8192)",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="flood-of-binary",
        shell=True,
        program="cat /dev/urandom",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="flood-of-zero-bytes",
        shell=True,
        program="cat /dev/zero",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="flood-of-terminal-escapes",
        program="""
while True:
    os.write(1, b"\\x1b[2J\\x1b[31m\\x1b]0;title\\x07\\x1b]52;c;ZXZpbA==\\x07\\x1b[6n" * 100)
""",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="flood-by-single-bytes",
        program="while True: os.write(1, b'.')",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="flood-from-a-background-child",
        shell=True,
        program="yes & sleep 60",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="flood-from-a-daemon-after-the-end",
        shell=True,
        program="setsid yes & exit 0",
        limits=_LIMITS,
        named=_OUTPUT | {None},
    ),
    Attack(
        name="flood-that-ends-well",
        shell=True,
        program="head -c 3000000 /dev/zero; exit 0",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="flood-that-cannot-be-interrupted",
        shell=True,
        program="trap '' PIPE TERM INT HUP; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done 2>/dev/null",
        limits=_LIMITS,
        named=_OUTPUT,
    ),
    Attack(
        name="output-of-exactly-the-limit",
        program="os.write(1, b'x' * (65536 - len('STARTED\\nFINISHED\\n')))",
        exit_codes=frozenset({0}),
        named=frozenset({None}),
    ),
    Attack(
        name="output-closed-then-asleep",
        program="import time\nos.closerange(0, 256)\ntime.sleep(600)",
        limits=replace(QUICK, wall_seconds=2),
        named=frozenset({LimitKind.WALL}),
        exit_codes=frozenset({137}),
    ),
    Attack(
        name="output-that-is-no-text",
        program="os.write(1, bytes(range(256)) * 4); os.write(2, b'\\xff\\xfe\\x00')",
        exit_codes=frozenset({0}),
    ),
)
