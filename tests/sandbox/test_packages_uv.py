"""The edges of the installer: what it is told, what it says, and what it leaves behind."""

import os
import stat
from pathlib import Path

import pytest

from sandbox.packages.contents import clean
from sandbox.packages.diagnosis import blamed, diagnosis, reason, step
from sandbox.packages.uv_command import install_argv, install_env


def test_links_and_special_files_are_removed_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "kept.py").touch(mode=0o4711)
    (folder / "deep" / "link").symlink_to("/etc")
    (folder / "dangling\n").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    reasons = clean(folder)
    assert reasons == dict.fromkeys(["deep/link", "dangling\\n", "pipe"], "not a regular file")
    assert {path.name for path in folder.rglob("*")} == {"deep", "kept.py"}
    assert stat.S_IMODE((folder / "deep" / "kept.py").stat().st_mode) == 0o755


def test_the_command_builds_nothing_and_reads_no_settings_of_a_repository(tmp_path: Path) -> None:
    where = {"requirements": tmp_path / "r", "constraints": tmp_path / "c", "target": tmp_path / "t"}
    argv = install_argv(**where, python="3.12", complete=False)
    words = " ".join(argv)
    assert "--only-binary :all:" in words
    assert "--directory / " in words
    assert f"--python-version 3.12 --python-platform {os.uname().machine}-manylinux_2_28" in words
    assert f"--constraints {tmp_path / 'c'}" in words
    assert "--no-deps" not in argv
    assert "--no-deps" in install_argv(**where, python="3.12", complete=True)


class TestEnvironment:
    def test_only_what_leads_to_the_indexes_is_kept(self) -> None:
        kept = {"HOME": "/h", "PATH": "/bin", "HTTPS_PROXY": "p", "no_proxy": "n", "SSL_CERT_FILE": "c"}
        kept |= {"UV_INDEX_MINE_PASSWORD": "s", "UV_EXTRA_INDEX_URL": "e", "UV_CONFIG_FILE": "f"}
        other = {
            "GITHUB_TOKEN": "t",
            "UV_NO_BINARY": "1",
            "UV_TARGET": "/",
            "UV_PYTHON": "x",
            "LD_PRELOAD": "y",
        }
        env = install_env({**kept, **other}, cache=Path("/c"))
        assert env == {**kept, "UV_CACHE_DIR": "/c", "UV_HTTP_TIMEOUT": "30"}

    def test_settings_for_pip_serve_where_there_are_none_for_uv(self) -> None:
        pip = {"PIP_INDEX_URL": "https://i.example", "PIP_FIND_LINKS": "/wheels"}
        env = install_env({**pip, "UV_FIND_LINKS": "/mine"}, cache=Path("/c"))
        assert (env["UV_DEFAULT_INDEX"], env["UV_FIND_LINKS"]) == ("https://i.example", "/mine")
        assert not set(pip) & set(env)


class TestDiagnosis:
    COMPLAINT = (
        "Using CPython 3.11.7 interpreter at: /usr/bin/python\n"
        "error: No solution found when resolving dependencies\n"
        "  cause: Because pandas==2.3.3 depends on numpy>=1.23.2 and you require Pandas==2.3.3, "
        "we can conclude that you require numpy>=1.23.2.\n"
        "         And because you require numpy<1.20, "
        "we can conclude that your requirements are unsatisfiable.\n"
        "\nhint: mind attrs\n"
    )

    def test_the_requirement_named_first_is_to_blame(self) -> None:
        assert blamed(self.COMPLAINT, ["attrs", "numpy<1.20", "pandas[excel]==2.3.3"]) == [
            "pandas[excel]==2.3.3"
        ]
        assert blamed(self.COMPLAINT, ["attrs", "numpy<1.20"]) == ["numpy<1.20"]
        assert blamed(self.COMPLAINT, ["attrs"]) == []

    def test_the_reason_is_the_cause_in_one_line(self) -> None:
        assert reason(self.COMPLAINT).startswith("Because pandas==2.3.3 depends on numpy>=1.23.2 and")
        assert reason(self.COMPLAINT).endswith("you require numpy<1.20")
        assert reason("x\x1b[31m\ny") == "x [31m y"

    def test_credentials_and_chatter_are_not_repeated(self) -> None:
        said = "Using CPython\nerror: Failed to fetch: https://me:pass@word@i.example/simple/\n"
        said += "  cause: dns error\n"
        assert diagnosis(said) == "error: Failed to fetch: https://***@i.example/simple/; cause: dns error"
        assert diagnosis("") == "uv said nothing"

    def test_steps_are_told_apart_from_the_rest(self) -> None:
        assert step("Resolved 12 packages in 3ms") == "Resolved 12 packages in 3ms"
        assert step(" + attrs==26.1.0") is None
        assert step("") is None

    @pytest.mark.parametrize("size", ["20MiB", "20.0MiB", "880.3MiB", "1020MiB", "1.2GiB"])
    def test_large_downloads_are_named(self, size: str) -> None:
        assert step(f"Downloading torch ({size})") == f"Downloading torch ({size})"

    @pytest.mark.parametrize(
        "line",
        [
            "Downloading numpy (17.4MiB)",
            "Downloading x (2.0MiB)",
            "Downloading x (900.1KiB)",
            " Downloaded torch",
        ],
    )
    def test_other_downloads_are_not(self, line: str) -> None:
        assert step(line) is None
