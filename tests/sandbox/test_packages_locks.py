"""Which versions are read from lock files, honest and hostile."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from sandbox.packages import Wanted, wanted_packages

from .test_packages_wanted import ELSEWHERE, HOSTILE, TOO_MUCH, wanted


class TestUvLock:
    LOCK = """
        version = 1
        [[package]]
        name = "mine"
        source = { editable = "." }
        dependencies = [
            { name = "web", extra = ["fast"] },
            { name = "forked" , version = "1.0", marker = "python_version < '3.12'" },
            { name = "forked", version = "2.0", marker = "python_version >= '3.12'" },
            { name = "from-git" },
        ]
        [package.optional-dependencies]
        gpu = [{ name = "torch" }]
        test = [{ name = "checker", marker = "sys_platform == 'linux'" }]
        [package.dev-dependencies]
        dev = [{ name = "linter" }]
        docs = [{ name = "sphinx" }]
        [[package]]
        name = "web"
        version = "3.1"
        source = { registry = "https://index.example/simple" }
        dependencies = [{ name = "linter" , marker = "sys_platform == 'win32'"}]
        [package.optional-dependencies]
        fast = [{ name = "speedups" }]
        slow = [{ name = "sloth" }]
        [[package]]
        name = "from-git"
        version = "1"
        source = { git = "https://github.com/a/b?rev=1#2" }
        dependencies = [{ name = "of-git" }]
    """ + "".join(
        f"""
        [[package]]
        name = "{name}"
        version = "{version}"
        source = {{ registry = "https://index.example/simple" }}
    """
        for name, version in [
            *(
                ("forked", "1.0"),
                ("forked", "2.0"),
                ("torch", "2.5.1+cpu"),
                ("checker", "1.2"),
                ("linter", "4"),
            ),
            *(("sphinx", "8"), ("speedups", "0.1"), ("sloth", "0.1"), ("of-git", "7")),
        ]
    )

    def test_what_the_project_its_tests_and_its_groups_reach_is_pinned(self) -> None:
        found = wanted(uv__lock=self.LOCK, requirements__txt="ignored")
        assert set(found.requirements) == {
            *("web==3.1", "speedups==0.1", "of-git==7", "linter==4"),
            'checker==1.2; sys_platform == "linux"',
            'forked==1.0; python_version < "3.12"',
            'forked==2.0; python_version >= "3.12"',
        }
        assert (found.source, found.locked, found.refused) == ("uv.lock", True, {"from-git": ELSEWHERE})

    def test_markers_of_several_ways_to_a_package_are_alternatives(self) -> None:
        lock = self.LOCK.replace('{ name = "linter" }]', '{ name = "linter", marker = "os_name == \'nt\'" }]')
        linter = next(one for one in wanted(uv__lock=lock).requirements if one.startswith("linter"))
        marker = Requirement(linter).marker
        assert marker is not None
        assert [marker.evaluate({"os_name": name, "sys_platform": "linux"}) for name in ("nt", "posix")] == [
            True,
            False,
        ]
        assert marker.evaluate({"os_name": "posix", "sys_platform": "win32"})

    def test_dependencies_in_a_circle_end(self) -> None:
        circle = "".join(
            f"[[package]]\nname='p{n}'\nversion='1'\nsource={{registry='x'}}\n"
            f"dependencies=[{{name='p{(n + 1) % 3}'}}]\n"
            for n in range(3)
        )
        own = "[[package]]\nname='mine'\nsource={virtual='.'}\ndependencies=[{name='p0'},{name='unknown'}]\n"
        assert wanted(uv__lock=own + circle).requirements == ("p0==1", "p1==1", "p2==1")

    OWN = "[[package]]\nname='mine'\nsource={virtual='.'}\ndependencies=["

    def named_alike(self, count: int) -> str:
        return "".join(
            f"[[package]]\nname='a'\nversion='{n}'\nsource={{registry='x'}}\ndependencies=[{{name='a'}}]\n"
            for n in range(count)
        )

    def test_versions_of_one_package_are_limited(self) -> None:
        edge = self.OWN + "{name='a'}]\n"
        assert len(wanted(uv__lock=edge + self.named_alike(100)).requirements) == 100
        found = wanted(uv__lock=edge + self.named_alike(101))
        assert found.refused == {"uv.lock": "has more than 100 packages named a"}

    @pytest.mark.timeout(60)
    @pytest.mark.parametrize(
        "edge", ["{name='a'},", "{name='a',extra=['b','b','b','b','b','b','b','b','b']},"]
    )
    def test_edges_times_versions_are_limited(self, edge: str) -> None:
        found = wanted(uv__lock=self.OWN + edge * 9000 + "]\n" + self.named_alike(100))
        assert found.refused == {"uv.lock": "takes more than 100000 steps to follow"}

    @pytest.mark.parametrize(
        "content",
        [
            "x=[" + "1," * 500_000 + "]",
            "[[package]]\nname='a'\n" * 40_000,
            "a=1\n" * 250_000,
            "a.b=1\n" * 150_000,
        ],
    )
    def test_a_lock_of_nothing_but_small_parts_is_refused_before_it_is_parsed(self, content: str) -> None:
        assert wanted(uv__lock=content).refused == {"uv.lock": "has too many keys, values and tables"}

    @pytest.mark.timeout(60)
    def test_a_very_large_honest_lock_is_read(self) -> None:
        wheel = (
            "    {{ url = 'https://files.index.example/packages/aa/{0}/p{1}-1.2.3-cp311-cp311-linux.whl', "
            "hash = 'sha256:{0}', size = 123456, upload-time = '2025-01-02T03:04:05.678Z' }},\n"
        )
        packages = "".join(
            f"[[package]]\nname = 'p{n}'\nversion = '1.2.3'\n"
            f"source = {{ registry = 'https://index.example/simple' }}\n"
            f"dependencies = [\n    {{ name = 'p{n + 1}' }},\n]\nwheels = [\n"
            + "".join(wheel.format("ab" * 32, n) for _ in range(25))
            + "]\n\n"
            for n in range(500)
        )
        assert 3_500_000 < len(packages) < 4_194_304
        found = wanted(uv__lock=self.OWN + "{name='p0'}]\n" + packages)
        assert (len(found.requirements), found.refused) == (500, {})


class TestOtherLocks:
    def test_pylock_is_pinned_with_its_groups_decided(self) -> None:
        text = """
            lock-version = "1.0"
            [[packages]]
            name = "attrs"
            version = "24.1.0"
            marker = "python_version >= '3.8'"
            [[packages]]
            name = "checker"
            version = "1.0"
            marker = "'test' in dependency_groups or 'x' in extras"
            [[packages]]
            name = "sphinx"
            version = "8"
            marker = "'docs' in dependency_groups"
            [[packages]]
            name = "local"
            [packages.directory]
            path = "../local"
            [[packages]]
            name = "odd"
            version = "1"
            marker = "'test' in dependency_groups and"
        """
        found = wanted(pylock__toml=text)
        assert found.requirements == ('attrs==24.1.0; python_version >= "3.8"', "checker==1.0")
        assert (found.source, found.locked) == ("pylock.toml", True)
        assert found.refused["local"] == ELSEWHERE
        assert len(found.refused) == 2

    def test_poetry_lock_old_and_new_is_pinned_without_optional_packages(self) -> None:
        text = """
            [[package]]
            name = "attrs"
            version = "24.1.0"
            groups = ["main", "docs"]
            markers = {main = "python_version < '4'", docs = "python_version > '2'"}
            [[package]]
            name = "mock"
            version = "5"
            category = "dev"
            [[package]]
            name = "sphinx"
            version = "8"
            groups = ["docs"]
            [[package]]
            name = "extra"
            version = "1"
            optional = true
            [[package]]
            name = "internal"
            version = "1"
            markers = "sys_platform == 'linux'"
            [package.source]
            type = "legacy"
            url = "https://internal.example/simple"
            [[package]]
            name = "forked"
            version = "1"
            [package.source]
            type = "git"
            url = "https://github.com/a/b"
        """
        found = wanted(poetry__lock=text)
        assert found.requirements == (
            'attrs==24.1.0; python_version < "4"',
            "mock==5",
            'internal==1; sys_platform == "linux"',
        )
        assert (found.locked, found.refused) == (True, {"forked": ELSEWHERE})

    def test_pdm_lock_is_pinned(self) -> None:
        text = """
            [[package]]
            name = "attrs"
            version = "24.1.0"
            groups = ["default"]
            marker = "python_version >= '3.8'"
            [[package]]
            name = "sphinx"
            version = "8"
            groups = ["docs"]
            [[package]]
            name = "x"
            version = "1"
            path = "./x"
        """
        found = wanted(pdm__lock=text)
        assert found.requirements == ('attrs==24.1.0; python_version >= "3.8"',)
        assert found.refused == {"x": ELSEWHERE}

    def test_a_lock_without_packages_leaves_the_word_to_what_is_declared(self) -> None:
        found = wanted(poetry__lock="package = []", requirements__txt="attrs")
        assert (found.source, found.requirements, found.locked) == ("requirements.txt", ("attrs",), False)


class TestHostileLocks:
    def lock(self, packages: list[tuple[str, str]]) -> Wanted:
        entries = "".join(
            f"[[package]]\nname={json.dumps(name)}\nversion={json.dumps(version)}\n"
            for name, version in packages
        )
        return wanted(poetry__lock=entries)

    @pytest.mark.parametrize(
        "name", ["../../x", "--option", "-e", "a b", "", "a;b", "a@b", "x\ny", "a\\", "é", "/"]
    )
    def test_a_name_that_is_none_is_refused(self, name: str) -> None:
        found = self.lock([(name, "1"), ("attrs", "1")])
        assert found.requirements == ("attrs==1",)
        assert len(found.refused) == 1

    @pytest.mark.parametrize("version", ["--option", "1 --index-url x", "1\n-e .", "../..", "*", "1 ; x", ""])
    def test_a_version_that_is_none_is_refused(self, version: str) -> None:
        found = self.lock([("a", version), ("attrs", "1")])
        assert found.requirements == ("attrs==1",)

    def test_five_thousand_packages_are_one_refusal(self) -> None:
        found = self.lock([(f"p{number}", "1") for number in range(5000)])
        assert found.refused == {"poetry.lock": "names more than 2000 packages"}
        assert found.requirements == ()

    @pytest.mark.timeout(60)
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("uv.lock", "[" + "a." * 1_500_000 + "a]"),
            ("uv.lock", "'a' . " * 500_000),
            ("poetry.lock", "a " * 1_500_000),
            ("requirements.txt", "a\n" * 1_500_000),
            ("requirements.txt", "a" + " " * 3_000_000 + "b"),
            ("requirements.txt", "a " * 1_500_000 + "\\\n"),
            ("requirements.txt", "--" * 1_500_000),
            ("setup.cfg", "[options]\ninstall_requires = a" + " " * 3_000_000 + "b"),
            ("setup.cfg", "[options]\ninstall_requires =\n" + " a\n" * 900_000),
        ],
    )
    def test_no_file_can_take_time_by_the_square_of_its_size(self, name: str, content: str) -> None:
        assert len(wanted_packages({name: content.encode()}).requirements) <= 1

    @pytest.mark.timeout(60)
    def test_no_number_of_files_is_read_without_end(self) -> None:
        top = {f"requirements/{n:03}.txt": b"-r ../big.txt\n" for n in range(2000)}
        found = wanted_packages({**top, "big.txt": b".\n" * 600_000})
        assert found.refused == {"big.txt": TOO_MUCH}

    @pytest.mark.timeout(60)
    def test_no_more_than_fifty_files_are_read(self) -> None:
        found = wanted_packages({f"requirements/{n:04}.txt": b"p%d\n" % n for n in range(3000)})
        assert found.requirements == tuple(f"p{n}" for n in range(50))
        assert found.refused == {"requirements/0050.txt": TOO_MUCH}

    def test_a_file_that_many_include_is_read_once(self) -> None:
        top = {f"requirements/{n}.txt": b"-r ../big.txt\n" for n in range(40)}
        found = wanted_packages({**top, "big.txt": b"".join(b"p%d\n" % n for n in range(300))})
        assert (len(found.requirements), found.source, found.refused) == (300, "big.txt", {})

    def test_the_lines_of_all_requirement_files_count_together(self) -> None:
        files = {f"requirements/{n}.txt": b"attrs\n" * 4000 for n in range(4)}
        found = wanted_packages(files)
        assert found.source == "requirements/0.txt, requirements/1.txt"
        assert found.refused == {"requirements/2.txt": TOO_MUCH}

    def test_the_bytes_of_all_requirement_files_count_together(self) -> None:
        files = {f"requirements/{n}.txt": b"a%d #" % n + b"x" * 1_000_000 for n in range(6)}
        found = wanted_packages(files)
        assert found.requirements == ("a0", "a1", "a2", "a3")
        assert found.refused == {"requirements/4.txt": TOO_MUCH}

    def test_files_together_name_no_more_than_one_may(self) -> None:
        files = {
            f"requirements/{file}.txt": "".join(f"p{file}-{n}\n" for n in range(900)).encode()
            for file in range(5)
        }
        found = wanted_packages(files)
        assert len(found.requirements) == 1800
        assert list(found.refused) == [f"requirements/{file}.txt" for file in (2, 3, 4)]

    def test_a_thousand_refusals_are_counted_not_listed(self) -> None:
        found = self.lock([(f"../{number}", "1") for number in range(1000)])
        assert len(found.refused) == 101
        assert found.refused["..."] == "more was refused"

    def test_a_gigantic_file_is_not_looked_at(self) -> None:
        found = wanted_packages({"uv.lock": b"x" * 5_000_000, "requirements.txt": b"attrs"})
        assert (found.requirements, list(found.refused)) == (("attrs",), ["uv.lock"])

    @pytest.mark.parametrize("name", ["uv.lock", "pylock.toml", "poetry.lock", "pdm.lock"])
    @pytest.mark.parametrize(
        "content",
        [
            b"\xff",
            b"package = 'x'\npackages = 'x'",
            b"[[package]]\nversion = '1'\n[[packages]]\nversion = '1'",
            b"[[package]]\nname = 1\n[[packages]]\nname = 1",
            b"x = " + b"{a=" * 5000 + b"1" + b"}" * 5000,
            b"[" + b"a." * 500_000 + b"a]",
        ],
    )
    def test_a_malformed_lock_is_one_refusal(self, name: str, content: bytes) -> None:
        found = wanted_packages({name: content})
        assert (found.requirements, list(found.refused)) in (((), [name]), ((), []))


@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), max_size=5))
def test_whatever_a_lock_holds_only_pins_come_out(packages: list[tuple[str, str, str]]) -> None:
    entries = "".join(
        f"[[package]]\nname={json.dumps(name)}\nversion={json.dumps(version)}\nmarker={json.dumps(marker)}\n"
        for name, version, marker in packages
    )
    for one in wanted_packages({"pdm.lock": entries.encode()}).requirements:
        pin = Requirement(one)
        assert [clause.operator for clause in pin.specifier] == ["=="]
        assert pin.url is None
