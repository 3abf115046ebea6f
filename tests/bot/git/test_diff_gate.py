"""What is refused before it could be pushed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.git.diff_gate import check_contents, check_paths
from pipelines.errors import RefusalError

KEY = b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEpAIBAAKCAQEA7" * 4 + b"\n-----END RSA PRIVATE KEY-----\n"
SECRETS = {
    "rsa": KEY,
    "openssh": KEY.replace(b"RSA", b"OPENSSH"),
    "plain": KEY.replace(b"RSA ", b""),
    "pgp": KEY.replace(b"RSA PRIVATE KEY", b"PGP PRIVATE KEY BLOCK"),
    "in one line": KEY.replace(b"\n", b"\\n"),
    "encrypted": KEY.replace(b"-----\n", b"-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1),
    "classic": b"t = 'ghp_" + b"a1B2" * 9 + b"'",
    "installation": b"ghs_" + b"a1B2" * 9,
    "installation, newer": b"ghs_123456_" + b"eyJhbGciOi.J9-_x" * 20,
    "oauth": b"gho_" + b"a1B2" * 9,
    "refresh": b"ghr_" + b"a1B2" * 9,
    "user": b"ghu_" + b"a1B2" * 9,
    "fine-grained": b"github_pat_" + b"11ABCDEFG0_" + b"x" * 60,
    "aws id": b"key = AKIA" + b"Q" * 16,
    "aws session": b'"ASIA' + b"2" * 16 + b'"',
    "aws secret": b'AWS_SECRET_ACCESS_KEY="' + b"aB3/" * 10 + b'"',
}
HARMLESS = {
    "documentation's key": b"AKIAIOSFODNN7EXAMPLE",
    "a pattern": b're.compile(r"-----BEGIN (RSA )?PRIVATE KEY-----")\nname = "ordinary text follows here"\n',
    "a word": b"ghs_short and github_pat_ and xghp_" + b"a" * 36,
    "a hash": b"d6cd1e2bd19e03a81132a23b2025920577f84e37",
    "longer": b"AKIA" + b"Q" * 30,
}


@pytest.mark.parametrize("name", list(SECRETS))
def test_a_secret_is_refused_with_file_and_line_and_never_shown(name: str) -> None:
    content = b"first = 1\r\n\n" + SECRETS[name] + b"\n"
    with pytest.raises(RefusalError, match=r"'src/a\.py' is not pushed: line 3 holds (a|an) ") as refused:
        check_contents({"src/b.py": b"", "src/a.py": content}, {})
    assert SECRETS[name][-30:].decode() not in str(refused.value)


@pytest.mark.parametrize("name", list(HARMLESS))
def test_what_only_looks_like_a_secret_passes(name: str) -> None:
    check_contents({"src/a.py": b"x " + HARMLESS[name] + b" y"}, {})


def test_a_secret_that_the_file_held_before_is_not_ours() -> None:
    check_contents({"a.py": b"new\n" + KEY}, {"a.py": KEY})
    with pytest.raises(RefusalError, match="line 2"):
        check_contents({"b.py": b"new\n" + KEY}, {"a.py": KEY})


def test_the_processs_own_secrets_are_refused_whatever_they_look_like() -> None:
    with pytest.raises(RefusalError, match="line 1 holds one of this server's own") as refused:
        check_contents({"a": b"x = 'correct horse'"}, {}, secrets=["", "x", "correct horse"])
    assert "horse" not in str(refused.value)
    check_contents({"a": b"x = 'correct horse'"}, {}, secrets=["", "x"])


@given(st.binary(max_size=300))
def test_ordinary_bytes_pass(content: bytes) -> None:
    check_contents({"a": content}, {})


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".GitHub/WORKFLOWS/ci.yml",
        ".github./workflows/ci.yml",
        ".github /workflows /ci.yml",
        ".git\u200dhub/workflows/ci.yml",
        ".github/work\u200cflows/a/ci.yml",
        ".github::$INDEX_ALLOCATION/workflows/ci.yml",
        "GITHUB~1/workflows/ci.yml",
        ".github/WORKFL~1/ci.yml",
        ".gıthub/../.github/workflows/ci.yml",
    ],
)
def test_workflows_are_refused_in_every_spelling(path: str) -> None:
    with pytest.raises(RefusalError, match="is not pushed: "):
        check_paths([path])


@pytest.mark.parametrize(
    "path",
    [
        "setup.py",
        "sdk/storage/azure-storage/setup.py",
        "deep/down/Setup.PY",
        "pkg/.env",
        "pkg/.env.local",
        "keys/id_rsa.pub",
        "a/server.pem",
        "src/__pycache__/a.cpython-311.pyc",
        ".venv/lib/a.py",
        "a/.gitattributes",
        "docs/CODEOWNERS",
        "requirements-dev.txt",
        ".git/config",
        "../a.py",
        "a\tb.py",
    ],
)
def test_denied_names_are_refused_at_any_depth(path: str) -> None:
    with pytest.raises(RefusalError, match="is not pushed: ") as refused:
        check_paths(["ok.py", path])
    assert repr(path) in str(refused.value)


@pytest.mark.parametrize(
    "path",
    ["src/tool.py", 'fänny/中文".py', "-x.py", ".github/scripts/a.py", "github/workflows.py", "env.py"],
)
def test_other_paths_pass(path: str) -> None:
    check_paths([path])


def test_only_allowed_paths_pass_and_denied_names_not_even_there() -> None:
    check_paths(["src/a/b.py"], allowed=("src/**", "tests/**"))
    with pytest.raises(RefusalError, match=r"'tools/a\.py' may not be written"):
        check_paths(["src/a.py", "tools/a.py"], allowed=("src/**", "tests/**"))
    with pytest.raises(RefusalError, match=r"setup\.py"):
        check_paths(["src/setup.py"], allowed=("src/**",))
    check_paths(["src/setup.py"], allowed=("src/**",), denied=())
