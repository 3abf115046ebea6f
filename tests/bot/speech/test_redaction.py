import random
import string
import uuid
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.settings import GitHubSettings, ServiceSettings, Settings
from bot.speech.redaction import REDACTED, Redactor, secrets_of
from pipelines.model.endpoint import Endpoint

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjMifQ.c2lnbmF0dXJlLW9mLWl0"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(f"MIIEpAIBAAKCAQEA{n:02d}{'x' * 46}" for n in range(5))
    + "\n-----END RSA PRIVATE KEY-----"
)
SECRETS = [
    "ghp_" + "a1B2" * 9,
    "gho_16C7e42F292c6912E7710c838347Ae178B4a",
    "ghu_16C7e42F292c6912E7710c838347Ae178B4a",
    "ghr_" + "1B4a2e77838347a7E420ce178F2E7c6912E169246c34E1ccbF66C46812d16D5B1A9Dc86A1498",
    "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
    f"ghs_1234567_{JWT}",
    "github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789",
    JWT,
    PEM,
    "AKIAIOSFODNN7EXAMPLE",
    "sk-proj-AbCd1234EfGh5678IjKl9012",
    "hf_" + "aB3" * 12,
    "glpat-aB3dE5fG7hI9jK1lM3nO",
    "pypi-" + "AgEIcHlwaS5vcmc" * 5,
]
HARMLESS = [
    "commit 9452cbb0123456789abcdef0123456789abcdef0",
    "sha256:cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    "123e4567-e89b-12d3-a456-426614174000",
    "git@github.com:octo/repo.git and ssh://git@github.com/octo/repo.git",
    "https://api.github.com/repos/o/r?per_page=100#top and http://localhost:8000/v1",
    "basic understanding_of_something_long, bearer token_authentication",
    "def ghs_of_some_longer_name(task_sk, risk-free-estimates-of-2020): ...",
    "from hf_tokenizers_2_and_more_words import npm_package_lock_version_3",
    'url = f"https://{user}:{password}@{host}/x"',
    "curl https://$USER:$TOKEN@example.org",
    "assert base64.b64encode(b'Hello, World!') == b'SGVsbG8sIFdvcmxkIQ=='",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_taken_out_of_prose_code_and_urls(secret: str) -> None:
    redact = Redactor()
    for before, after in (("", ""), ("token is ", ", sorry"), ('key = "', '"\n'), ("(", ")"), ("=", "\n")):
        assert redact(f"{before}{secret}{after}") == f"{before}{REDACTED}{after}"


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_and_code_stay_as_they_are(text: str) -> None:
    assert Redactor(["some-secret"])(text) == text


@given(st.uuids(), st.binary(min_size=20, max_size=20))
def test_ids_are_no_secrets(identifier: uuid.UUID, sha: bytes) -> None:
    text = f"{identifier} {sha.hex()} {identifier.hex}"
    assert Redactor()(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Authorization: Bearer abcDEF123456ghiJKL", f"Authorization: Bearer {REDACTED}"),
        ("authorization: basic eC1hY2Nlc3M6c2VjcmV0MQ==", f"authorization: basic {REDACTED}"),
        ("Authorization: token 0123456789abcdef0123", f"Authorization: token {REDACTED}"),
        ("https://x-access-token:whatever1@github.com/o/r", f"https://{REDACTED}@github.com/o/r"),
        ("postgresql://bot:pass%2Fword@db:5432/jobs", f"postgresql://{REDACTED}@db:5432/jobs"),
        (f"{PEM[:150]}", REDACTED),
        (PEM.replace("\n", "\\n"), REDACTED),
    ],
)
def test_credentials_in_headers_urls_and_keys_cut_short(text: str, said: str) -> None:
    assert Redactor()(text) == said


@given(
    st.text(string.ascii_letters + string.digits + "-_!/+@", min_size=9, max_size=40), st.binary(max_size=7)
)
def test_a_known_secret_goes_in_each_form_that_it_may_take(secret: str, before: bytes) -> None:
    redact = Redactor([secret])
    assert secret not in redact(f"a {secret} b{secret}c")
    assert quote(secret, safe="") not in redact(f"https://h/?q={quote(secret, safe='')}")
    for encode in (b64encode, urlsafe_b64encode):
        whole = encode(before + secret.encode() + b"after").decode()
        assert REDACTED in redact(whole)
        assert encode(f"x-access-token:{secret}".encode()).decode() not in redact(
            encode(f"x-access-token:{secret}".encode()).decode()
        )


def test_each_line_of_a_known_key_is_a_secret() -> None:
    redact = Redactor([PEM])
    assert redact(PEM.split("\n")[2]) == REDACTED
    assert redact("-----END RSA PRIVATE KEY-----") == "-----END RSA PRIVATE KEY-----"


def test_the_longest_of_secrets_that_hold_each_other_goes_first() -> None:
    assert Redactor(["inner-secret", "inner-secret-and-more"])("inner-secret-and-more") == REDACTED


def test_a_redactor_does_not_show_its_secrets() -> None:
    assert "topsecret" not in repr(Redactor(["topsecret"]))


def test_very_short_secrets_tear_no_words_apart() -> None:
    assert Redactor(["", "a", "is"])("this is a word") == "this is a word"


def test_large_and_hostile_texts_take_no_time() -> None:
    chosen = random.Random(3)
    noise = "".join(chosen.choices(string.printable, k=1_000_000))
    starts = (
        "gh_ eyJ",
        "ghs_",
        "sk-",
        "https://",
        "a://",
        "-----BEGIN PRIVATE KEY-----",
        "bearer ",
        "hf_a",
        "a.",
    )
    redact = Redactor(["some-secret"])
    for text in (noise, *(start * (200_000 // len(start)) for start in starts), "sk-" + "a" * 200_000):
        redact(text)


def test_the_secrets_of_all_settings_are_found(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text(PEM)
    settings = Settings(
        github=GitHubSettings(
            token=SecretStr("token-1"), webhook_secret=SecretStr("hook-2"), private_key_file=key
        ),
        executor=Endpoint(base_url="http://127.0.0.1:1/v1", api_key=SecretStr("executor-3")),
        planner=Endpoint(base_url="http://127.0.0.1:1/v1", api_key=SecretStr("planner-4")),
        service=ServiceSettings(database_url="postgresql://bot:database-5@db/jobs"),
    )
    found = ("token-1", "hook-2", PEM, "executor-3", "planner-4", "database-5")
    assert sorted(secrets_of(settings)) == sorted(found)
    assert secrets_of(Settings()) == ()


def test_a_key_file_that_cannot_be_read_is_no_secret(tmp_path: Path) -> None:
    assert secrets_of(Settings(github=GitHubSettings(private_key_file=tmp_path / "nowhere.pem"))) == ()


def test_a_secret_in_a_setting_of_any_form_is_found() -> None:
    class Later(Settings):
        models_by_name: dict[str, tuple[Endpoint, ...]]

    endpoint = Endpoint(base_url="http://127.0.0.1:1/v1", api_key=SecretStr("later-6"))
    assert secrets_of(Later(models_by_name={"big": (endpoint,)})) == ("later-6",)
