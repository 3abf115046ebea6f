"""`.github/issuewright.yml`: what is read, what is refused and in which words."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.github.errors import Unavailable
from bot.github.fake import FakeGitHub
from bot.github.types import RepoRef
from bot.repository_config import RepositoryConfig, RepositoryLimits, config_in, load_config, parse_config
from pipelines.budget import Budget
from pipelines.errors import RefusalError
from pipelines.repository.rules import RepositoryRules
from pipelines.strategies.direct import DirectParameters

PATH = ".github/issuewright.yml"
REPO = RepoRef(owner="octo", name="repo")
FULL = b"""\
label: generate
strategy: direct
target_paths:
  - src/app/
test_command: python -m pytest -q -k "not slow"
limits:
  tokens: 1000
  wall_seconds: 60.5
  samples: 0
allowed_paths: [src/**, tests/]
base: develop
branch: bot/{number}/{slug}
model: big
"""


def refused(raw: bytes | str) -> str:
    with pytest.raises(RefusalError) as raised:
        parse_config(raw if isinstance(raw, bytes) else raw.encode(), path=PATH)
    message = str(raised.value)
    assert message.startswith(PATH)
    return message.removeprefix(PATH).lstrip(",: ")


def test_every_key_is_read() -> None:
    config = parse_config(FULL, path=PATH, models=["small", "big"])
    assert config == RepositoryConfig.model_validate(
        {
            "label": "generate",
            "strategy": "direct",
            "target_paths": ("src/app/",),
            "test_command": ("python", "-m", "pytest", "-q", "-k", "not slow"),
            "limits": {"tokens": 1000, "wall_seconds": 60.5, "samples": 0},
            "allowed_paths": ("src/**", "tests/"),
            "base": "develop",
            "branch": "bot/{number}/{slug}",
            "model": "big",
        },
        context={"models": ["big"]},
    )
    assert config.rules == RepositoryRules(
        target_paths=("src/app/",), allowed_paths=("src/**", "tests/"), test_command=config.test_command
    )


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"# nothing yet\n", b"---\n", b"\xef\xbb\xbf# mark\n"])
def test_an_empty_file_changes_nothing(raw: bytes) -> None:
    assert parse_config(raw, path=PATH) == RepositoryConfig()
    assert RepositoryConfig().rules == RepositoryRules()


def test_a_command_may_be_a_list_of_words() -> None:
    config = parse_config(b"test_command: [make, 'check all']\n", path=PATH)
    assert config.test_command == ("make", "check all")


def test_a_label_that_looks_like_a_date_is_still_text() -> None:
    assert parse_config(b"label: 2020-01-01\n", path=PATH).label == "2020-01-01"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\n# x\nlable: a\n", 3, "no key 'lable'; did you mean `label`?"),
        ("colour: red\n", 1, "known are label, strategy"),
        ("limits:\n  tokens: 5\n  sampels: 3\n", 3, "did you mean `samples`?"),
        ("base: main\nlabel: no\n", 2, "`label` must be text (put it in quotes), not False"),
        ("label:\n", 1, "`label` has no value; give it one or remove the line"),
        ("limits: 5\n", 1, "`limits` must be a group of indented `key: value` lines"),
        ("limits:\n  tokens: '5'\n", 2, "`limits.tokens` must be a whole number, not '5'"),
        ("limits:\n  tokens: yes\n", 2, "must be a whole number, not True"),
        ("limits:\n  tokens: 0\n", 2, "greater than 0"),
        ("limits:\n  samples: -1\n", 2, "greater than or equal to 0"),
        ("limits:\n  wall_seconds: .inf\n", 2, "finite"),
        ("limits:\n  wall_seconds: .nan\n", 2, "wall_seconds"),
        ("target_paths: src\n", 1, "must be a list, one `- entry` a line"),
        ("target_paths:\n  - src\n  - ../up\n", 3, "leaves the repository"),
        ("target_paths: ['.github/workflows/x']\n", 1, "workflows"),
        ("target_paths:\n  - src\n  - 3\n", 3, "must be text"),
        ("allowed_paths:\n- src/**\n\n- 'a**'\n", 4, "`allowed_paths.1`"),
        ("allowed_paths: []\n", 1, "at least 1 item"),
        ("allowed_paths: ['src/**.py']\n", 1, "`**` must stand alone between slashes"),
        ("allowed_paths: ['/src']\n", 1, "relative to the repository's root"),
        ("allowed_paths: ['a/../b']\n", 1, "`..`"),
        ("allowed_paths: ['[ab']\n", 1, "lacks its `]`"),
        ("test_command: pytest 'x\n", 1, "no closing quotation"),
        ("test_command: ''\n", 1, "name a program"),
        ("test_command: []\n", 1, "name a program"),
        ('test_command: [make, "a\\0b"]\n', 1, "name a program"),
        ("test_command: 3\n", 1, "must be a list"),
        ("strategy: fancy\n", 1, "'direct'"),
        ("base: 'a..b'\n", 1, "not a branch name"),
        ("base: '-x'\n", 1, "not a branch name"),
        ("branch: bot\n", 1, "must contain `{number}` or `{slug}`"),
        ("branch: 'bot/{issue}-{slug}'\n", 1, "no other braces"),
        ("branch: 'bot {slug}'\n", 1, "no branch name that git accepts"),
        ("branch: '{slug}.lock'\n", 1, "no branch name that git accepts"),
        ("label: ' x'\n", 1, "without spaces around it"),
        (f"label: {'x' * 51}\n", 1, "at most 50"),
        ("model: big\n", 1, "this server does not offer 'big'; remove the line"),
        ("sandbox: none\n", 1, "no key 'sandbox'"),
        ("label: a\nbase: b\nlabel: c\n", 3, "`label` is there twice, first in line 1"),
        ("label: a\n\tbase: b\n", 2, "it has a tab; indent with spaces"),
        ("label: 'a\n", 1, "this is not YAML"),
        ("label: a: b\n", 1, "this is not YAML"),
        ("- label\n", 1, "`key: value` lines"),
        ("label\n", 1, "`key: value` lines"),
        ("1: x\n", 1, "a key must be plain text"),
        ("? [a, b]\n: c\n", 1, "a key must be plain text"),
        ("label: a\n---\nlabel: b\n", 2, "this is not YAML"),
        ("label: &a x\nbase: *a\n", 1, "anchors and aliases"),
        ("base: x\nlabel: *a\n", 2, "anchors and aliases"),
        ("<<: {label: a}\n", 1, "a key must be plain text"),
        ("label: !!python/name:os.system x\n", 1, "without a `!` tag"),
        ("label: !!int x\n", 1, "without a `!` tag"),
        ("label: !!binary YQ==\n", 1, "without a `!` tag"),
        ("label: x\nbase: \x07\n", 2, "control character"),
    ],
)
def test_a_fault_is_named_with_its_line_and_what_to_do(text: str, line: int, words: str) -> None:
    message = refused(text)
    assert message.startswith(f"line {line}: ")
    assert words in message


def test_a_model_must_be_one_that_the_owner_offers() -> None:
    with pytest.raises(RefusalError, match=r"line 1: `model`: .* choose one of big, small"):
        parse_config(b"model: huge", path=PATH, models={"small", "big"})


def test_text_that_is_not_utf_8_is_refused_with_its_line() -> None:
    assert refused(b"label: a\nbase: \xff\n").startswith("line 2: this is not UTF-8")


def test_all_faults_come_in_one_message_in_the_order_of_their_lines() -> None:
    message = refused("limits:\n  tokens: x\nlabel: 3\nbasse: main\n")
    assert [part.partition(":")[0] for part in message.split("; ") if part.startswith("line")] == [
        "line 2",
        "line 3",
        "line 4",
    ]


def test_a_thousand_faults_do_not_make_a_thousand_lines() -> None:
    message = refused("".join(f"key{number}: 1\n" for number in range(1000)))
    assert message.endswith("and 992 more faults")


def test_a_long_value_is_not_repeated_at_length() -> None:
    assert len(refused(f"limits:\n  tokens: {'x' * 5000}\n")) < 200


@pytest.mark.parametrize("bomb", ["[" * 5000, "- " * 5000, "{a: " * 3000, "? " * 5000])
def test_deep_nesting_is_refused_before_it_is_built(bomb: str) -> None:
    assert "nested" in refused(bomb)


def test_a_large_file_is_refused_unread() -> None:
    assert "at most 20000" in refused(b"#" * 20_001)
    parse_config(b"#" * 20_000, path=PATH)


_WORDS = st.sampled_from(
    [*RepositoryConfig.model_fields, *RepositoryLimits.model_fields, *"-:[]{}&*!|>'\"#%@,?\t\n", " ", "\n  "]
)


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_any_bytes_give_a_configuration_or_a_refusal(raw: bytes) -> None:
    _read(raw)


@given(st.lists(st.one_of(_WORDS, st.text(max_size=5), st.integers().map(str)), max_size=40))
def test_any_jumble_of_known_words_gives_a_configuration_or_a_refusal(parts: list[str]) -> None:
    _read("".join(parts).encode(errors="replace"))


@given(
    st.dictionaries(
        st.sampled_from([*RepositoryConfig.model_fields, "other"]),
        st.recursive(
            st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3),
                st.dictionaries(st.sampled_from([*RepositoryLimits.model_fields, "x"]), inner, max_size=3),
            ),
        ),
    )
)
def test_any_values_give_a_configuration_or_a_refusal(values: dict[str, object]) -> None:
    _read(yaml.safe_dump(values).encode())


def _read(raw: bytes) -> None:
    try:
        config = parse_config(raw, path=PATH)
    except RefusalError:
        return
    assert RepositoryRules.model_validate_json(config.rules.model_dump_json()) == config.rules


def test_limits_lower_what_the_owner_allows_and_never_raise_it() -> None:
    limits = RepositoryLimits(tokens=10, model_calls=9_999_999, wall_seconds=5.0, samples=0, repairs=99)
    own = Budget(tokens=100, model_calls=20)
    assert limits.budget(own) == Budget(tokens=10, model_calls=20, wall_seconds=5.0)
    assert limits.direct(DirectParameters()) == DirectParameters(samples=0, repairs=2)
    assert RepositoryLimits().budget(own) == own


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.floats(0.1, 1e6), st.floats(0.1, 1e6))
def test_the_lower_of_two_caps_holds(mine: int, own: int, seconds: float, own_seconds: float) -> None:
    limits = RepositoryLimits(tokens=mine, sandbox_seconds=seconds)
    lowered = limits.budget(Budget(tokens=own, sandbox_seconds=own_seconds))
    assert (lowered.tokens, lowered.sandbox_seconds) == (min(mine, own), min(seconds, own_seconds))


def test_a_configuration_survives_the_record_of_a_job() -> None:
    config = parse_config(FULL, path=PATH, models=["big"])
    assert RepositoryConfig.model_validate_json(config.model_dump_json()) == config


def test_the_files_of_a_commit_are_read_like_those_on_github() -> None:
    assert config_in({PATH: b"label: a", "README.md": b"x: ["}).label == "a"
    assert config_in({}) == RepositoryConfig()
    with pytest.raises(RefusalError, match="delete one"):
        config_in({PATH: b"", ".github/issuewright.yaml": b""})


async def test_a_repository_without_the_file_has_the_defaults() -> None:
    github = FakeGitHub()
    github.add_repository()
    assert await load_config(github, REPO, "main") == RepositoryConfig()


@pytest.mark.parametrize("name", ["issuewright.yml", "issuewright.yaml"])
async def test_both_spellings_are_found_at_the_given_reference_only(name: str) -> None:
    github = FakeGitHub()
    repository = github.add_repository()
    repository.push("main", {f".github/{name}": b"label: from-base\n"})
    repository.push("other", {f".github/{name}": b"label: from-elsewhere\n"})
    assert (await load_config(github, REPO, "main")).label == "from-base"


async def test_two_files_are_refused_rather_than_one_chosen() -> None:
    github = FakeGitHub()
    github.add_repository().push("main", dict.fromkeys((PATH, ".github/issuewright.yaml"), b""))
    with pytest.raises(RefusalError, match=r"both .*yml and .*yaml exist; delete one"):
        await load_config(github, REPO, "main")


async def test_the_message_names_the_spelling_that_is_there() -> None:
    github = FakeGitHub()
    github.add_repository().push("main", {".github/issuewright.yaml": b"\nx: 1"})
    with pytest.raises(RefusalError, match=r"\.github/issuewright\.yaml, line 2"):
        await load_config(github, REPO, "main")


async def test_offered_models_are_known_when_the_file_is_read() -> None:
    github = FakeGitHub()
    github.add_repository().push("main", {PATH: b"model: big"})
    assert (await load_config(github, REPO, "main", models=["big"])).model == "big"


async def test_when_github_is_down_no_default_takes_the_files_place() -> None:
    github = FakeGitHub()
    github.add_repository()
    github.fail("file", Unavailable("GitHub is down"))
    with pytest.raises(Unavailable):
        await load_config(github, REPO, "main")
