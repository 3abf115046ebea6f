"""Which packages are read from a repository's files, and which are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from sandbox.packages import Wanted, wanted_packages
from sandbox.packages.requirement_files import top_files

ELSEWHERE = "comes from a URL, a repository or a path, not from the package index"
TOO_MUCH = "more than 50 files, 4194304 bytes or 10000 lines; the rest is not read"
OPTION = "a repository may not set options of the installer"


def wanted(**files: str) -> Wanted:
    """Read files whose names are given with `__` for a dot and `___` for a slash."""
    return wanted_packages(
        {name.replace("___", "/").replace("__", "."): text.encode() for name, text in files.items()}
    )


def requirements_txt(text: str) -> Wanted:
    return wanted(requirements__txt=text)


def test_a_repository_without_declarations_wants_nothing() -> None:
    assert wanted_packages({}) == Wanted(source="")
    assert wanted_packages({"main.py": b"import numpy", "docs/requirements.txt": b"sphinx"}) == Wanted(
        source=""
    )


class TestRequirementFiles:
    def test_requirements_are_normalized_and_kept_in_order(self) -> None:
        text = "# needed\nrequests[socks] >= 2 , < 3  # http\nattrs\n\nAttrs\ntomli; os_name=='nt'\n"
        found = requirements_txt(text)
        assert found.requirements == (
            "requests[socks]<3,>=2",
            "attrs",
            "Attrs",
            'tomli; os_name == "nt"',
        )
        assert (found.source, found.refused, found.locked) == ("requirements.txt", {}, False)

    def test_settings_and_continued_lines_are_read_over(self) -> None:
        text = "attrs==24.1.0 \\\n    --config-settings=a=b \\\r\n    --global-option=x\n    # via x\n"
        text += "pluggy==1.5.0 --global-option x\n"
        assert requirements_txt(text).requirements == ("attrs==24.1.0", "pluggy==1.5.0")

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("--index-url https://evil.example/simple", OPTION),
            ("-i https://evil.example/simple", OPTION),
            ("--extra-index-url=https://evil.example", OPTION),
            ("-f https://evil.example/wheels", OPTION),
            ("--find-links ./wheels", OPTION),
            ("--trusted-host evil.example", OPTION),
            ("--no-binary :all:", OPTION),
            ("--pre", OPTION),
            ("--target=/usr", OPTION),
            ("-e git+https://github.com/a/b#egg=b", ELSEWHERE),
            ("-e ../elsewhere", ELSEWHERE),
            ("--editable=./part", ELSEWHERE),
            ("git+ssh://github.com/a/b", ELSEWHERE),
            ("https://evil.example/x-1-py3-none-any.whl", ELSEWHERE),
            ("file:///etc/passwd", ELSEWHERE),
            ("./x-1-py3-none-any.whl", ELSEWHERE),
            ("/tmp/x.whl", ELSEWHERE),
            ("../x", ELSEWHERE),
            ("x @ https://evil.example/x.whl", "comes from a URL, not from the package index"),
            ("-c constraints.txt", "constraint files are not used"),
            ("-r ../outside.txt", "names no file of the repository that can be read"),
            ("-r /etc/passwd", "names no file of the repository that can be read"),
            ("--requirement=https://evil.example/r.txt", "names no file of the repository that can be read"),
            ("not a requirement", "not a requirement as PEP 508 defines it"),
            ("${NAME}==1", "not a requirement as PEP 508 defines it"),
            (
                "a==1; " + "(" * 900 + "python_version>'3'" + ")" * 900,
                "not a requirement as PEP 508 defines it",
            ),
        ],
    )
    def test_what_a_repository_may_not_ask_is_refused_by_name(self, line: str, reason: str) -> None:
        found = requirements_txt(f"attrs\n{line}\npluggy\n")
        assert found.requirements == ("attrs", "pluggy")
        assert list(found.refused.values()) == [reason]
        assert line[:30] in next(iter(found.refused))

    def test_a_password_in_a_refused_line_is_not_repeated(self) -> None:
        found = requirements_txt("--index-url https://me:secret@internal.example/simple\n")
        assert list(found.refused) == ["--index-url https://***@internal.example/simple"]

    def test_included_files_are_read_relative_to_the_including_one(self) -> None:
        found = wanted(
            requirements___dev__txt="-r base.txt\n-r ../extra/more.txt\npytest-mock\n",
            requirements___base__txt="attrs\n-r dev.txt\n",
            extra___more__txt="pluggy\n",
        )
        assert set(found.requirements) == {"attrs", "pluggy", "pytest-mock"}
        assert found.refused == {}
        assert set(found.source.split(", ")) == {
            *("requirements/base.txt", "requirements/dev.txt", "extra/more.txt")
        }

    def test_a_long_chain_of_files_ends(self) -> None:
        files = {f"chain/{n}.txt": f"-r {n + 1}.txt\np{n}\n".encode() for n in range(200)}
        found = wanted_packages({"requirements.txt": b"-r chain/0.txt", **files})
        assert len(found.requirements) == 49
        assert list(found.refused.items()) == [("chain/49.txt", TOO_MUCH)]

    def test_the_repository_itself_is_no_requirement_but_what_it_declares_is(self) -> None:
        found = wanted(
            requirements__txt="-e .[test]\n.\nattrs\n",
            pyproject__toml="[project]\nname='x'\ndependencies=['pluggy']\n",
        )
        assert found.requirements == ("attrs", "pluggy")
        assert (found.source, found.refused) == ("requirements.txt, pyproject.toml", {})

    @pytest.mark.parametrize(
        ("paths", "top"),
        [
            (["requirements.txt", "requirements-dev.txt"], ["requirements-dev.txt", "requirements.txt"]),
            (
                ["dev-requirements.txt", "test_requirements.txt"],
                ["dev-requirements.txt", "test_requirements.txt"],
            ),
            (["requirements/base.in", "requirements/base.txt"], ["requirements/base.txt"]),
            (["requirements.in", "tests/requirements.txt"], ["requirements.in", "tests/requirements.txt"]),
            (["requirements-docs.txt", "docs/requirements.txt", "requirements/lint.txt"], []),
            (["my_requirements_parser.py", "sub/requirements.txt", "requirements.md"], []),
        ],
    )
    def test_files_for_other_things_than_running_are_left_alone(
        self, paths: list[str], top: list[str]
    ) -> None:
        assert top_files(paths) == top


class TestDeclarations:
    PYPROJECT = """
        [project]
        name = "my-project"
        dependencies = ["attrs>=23", "colorama; sys_platform == 'win32'"]
        [project.optional-dependencies]
        test = ["pytest-mock", "my-project[dev]"]
        dev = ["freezegun"]
        docs = ["sphinx"]
        [dependency-groups]
        Dev = ["mock", {include-group = "Typing_Tools"}]
        typing-tools = ["mypy"]
        docs = ["furo"]
    """

    def test_dependencies_test_extras_and_groups_are_taken(self) -> None:
        found = wanted(pyproject__toml=self.PYPROJECT)
        assert set(found.requirements) == {
            *("attrs>=23", 'colorama; sys_platform == "win32"', "pytest-mock", "freezegun", "mock", "mypy")
        }
        assert (found.source, found.refused) == ("pyproject.toml", {})

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("[dependency-groups]\ndev=[{include-group='dev'}]", "includes itself"),
            ("[dependency-groups]\ndev=[{include-group='a'}]\na=[{include-group='dev'}]", "includes itself"),
            ("[project]\ndependencies='attrs'", "not as expected at project.dependencies"),
            ("[project]\ndependencies=[1]", "not as expected at project.dependencies.0"),
            ("project=7", "not as expected at project"),
            ("[project", "cannot be read"),
            ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
            ("a = " + "9" * 10_000, "cannot be read"),
            ("\x00", "cannot be read"),
        ],
    )
    def test_a_malformed_pyproject_is_refused_as_a_whole(self, text: str, reason: str) -> None:
        found = wanted(pyproject__toml=text)
        assert found.requirements == ()
        assert list(found.refused) == ["pyproject.toml"]
        assert reason in found.refused["pyproject.toml"]

    def test_poetrys_own_declarations_are_named_as_unread(self) -> None:
        found = wanted(pyproject__toml="[tool.poetry.dependencies]\nattrs='^23'\n")
        assert (found.requirements, list(found.refused)) == ((), ["[tool.poetry]"])

    def test_uvs_settings_and_sources_in_pyproject_choose_nothing(self) -> None:
        text = "[project]\nname='x'\ndependencies=['attrs']\n[tool.uv]\nindex-url='https://evil.example'\n"
        text += "[tool.uv.sources]\nattrs={url='https://evil.example/attrs.whl'}\n"
        assert wanted(pyproject__toml=text).requirements == ("attrs",)

    def test_setup_cfg_is_read_with_its_test_extras(self) -> None:
        text = "[options]\ninstall_requires =\n    attrs>=23\n    # why\n    git+https://x.example/y\n"
        text += "[options.extras_require]\ntest =\n    mock\ndocs = sphinx\n"
        found = wanted(setup__cfg=text)
        assert (found.requirements, found.source) == (("attrs>=23", "mock"), "setup.cfg")
        assert list(found.refused) == ["git+https://x.example/y"]

    @pytest.mark.parametrize("text", ["no section", "[options\n", "[options]\nx\n", "\udcff"])
    def test_a_malformed_setup_cfg_names_itself(self, text: str) -> None:
        found = wanted_packages({"setup.cfg": text.encode("utf-8", "surrogateescape")})
        assert list(found.refused) == ["setup.cfg"]


HOSTILE = st.text(
    alphabet=st.one_of(st.sampled_from("-=<>~!@;#.,[]()'\"\\/ \n\r\trepx:1${}%"), st.characters()),
    max_size=80,
)


@given(HOSTILE)
def test_whatever_a_requirement_file_holds_only_plain_requirements_come_out(text: str) -> None:
    found = wanted_packages({"requirements.txt": text.encode("utf-8", "replace")})
    for one in found.requirements:
        assert Requirement(one).url is None
        assert one[0].isalnum()
        assert "\n" not in one
    assert all(what.isprintable() and reason.isprintable() for what, reason in found.refused.items())


@given(
    st.sampled_from(["uv.lock", "pylock.toml", "poetry.lock", "pdm.lock", "pyproject.toml", "setup.cfg"]),
    st.one_of(st.binary(max_size=200), HOSTILE.map(lambda text: text.encode("utf-8", "surrogatepass"))),
)
def test_no_content_of_a_file_raises(name: str, content: bytes) -> None:
    found = wanted_packages({name: content})
    assert set(found.refused) <= {name} or name in ("setup.cfg", "pyproject.toml")
