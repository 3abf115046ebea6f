"""Layouts, names and targets, from repositories given as files in memory."""

import keyword
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.errors import RefusalError
from pipelines.repository import (
    Layout,
    RepositorySnapshot,
    Target,
    choose_target,
    module_name,
    read_layout,
    snake_slug,
)

SRC = {"src/shop/__init__.py": "", "src/shop/cart.py": "", "tests/test_cart.py": "import pytest\n"}
FLAT = {"shop/__init__.py": "", "shop/cart.py": "", "docs/conf.py": "", "README.md": ""}


def snapshot_of(files: Mapping[str, str], skipped: Mapping[str, str] | None = None) -> RepositorySnapshot:
    contents = {path: text.encode() for path, text in files.items()}
    return RepositorySnapshot(files=contents, tree="0" * 40, skipped=skipped or {})


def layout_of(files: Mapping[str, str]) -> Layout:
    return read_layout(snapshot_of(files))


def targets_of(
    files: Mapping[str, str],
    *requested: str,
    slug: str = "new_tool",
    skipped: Mapping[str, str] | None = None,
) -> tuple[Target, ...]:
    snapshot = snapshot_of(files, skipped)
    return choose_target(read_layout(snapshot), snapshot, requested=requested, slug=slug)


def target_of(files: Mapping[str, str], *requested: str, slug: str = "new_tool") -> Target:
    (target,) = targets_of(files, *requested, slug=slug)
    return target


def test_src_layout() -> None:
    layout = layout_of(SRC)
    assert layout.roots == ("src", ".")
    assert layout.packages == ("src/shop",)
    assert layout.test_dir == "tests"
    assert layout.pythonpath == ("src", ".")
    assert layout.test_command == ("python", "-m", "pytest")


def test_flat_layout() -> None:
    layout = layout_of(FLAT)
    assert layout.roots == (".", "src")
    assert layout.packages == ("shop",)
    assert layout.test_dir == "tests"
    assert layout.test_command is None


def test_an_empty_repository_has_a_layout() -> None:
    assert layout_of({}) == Layout(
        roots=(".", "src"), packages=(), test_dir="tests", pythonpath=(".", "src"), test_command=None
    )


def test_a_package_named_src_is_no_root() -> None:
    layout = layout_of({"src/__init__.py": "", "src/a.py": ""})
    assert layout.roots == (".",)
    assert layout.packages == ("src",)


@pytest.mark.parametrize(
    "pyproject",
    [
        '[tool.hatch.build.targets.wheel]\npackages = ["lib/shop"]',
        '[tool.hatch.build]\nsources = ["lib"]',
        '[tool.setuptools.packages.find]\nwhere = ["lib"]',
        '[tool.setuptools.package-dir]\n"" = "lib"',
        '[tool.setuptools.package-dir]\nshop = "lib/shop"',
        '[[tool.poetry.packages]]\ninclude = "shop"\nfrom = "lib"',
        '[tool.pdm.build]\npackage-dir = "lib"',
        '[tool.uv.build-backend]\nmodule-root = "./lib/"',
    ],
)
def test_declared_roots(pyproject: str) -> None:
    layout = layout_of({"pyproject.toml": pyproject, "lib/shop/__init__.py": "", "lib/other.txt": ""})
    assert layout.roots[0] == "lib"
    assert layout.packages == ("lib/shop",)
    assert layout.pythonpath[0] == "lib"


def test_setup_cfg_and_pytest_ini() -> None:
    layout = layout_of(
        {
            "setup.cfg": "[metadata]\nname = my-shop\n[options]\npackage_dir =\n    = lib\n"
            "[options.packages.find]\nwhere = lib\n[tool:pytest]\ntestpaths = checks/tests\n",
            "pytest.ini": "[pytest]\npythonpath = tools/py .\n",
            "lib/a/__init__.py": "",
            "lib/my_shop/__init__.py": "",
            "checks/tests/test_a.py": "import unittest\n",
        }
    )
    assert layout.roots == ("lib", ".", "src")
    assert layout.packages == ("lib/my_shop", "lib/a")
    assert layout.test_dir == "checks/tests"
    assert layout.pythonpath == ("lib", ".", "src", "tools/py")
    assert layout.test_command == ("python", "-m", "pytest")


def test_plain_unittest_suites_keep_their_runner() -> None:
    layout = layout_of({"test/test_a.py": "import unittest\n"})
    assert layout.test_dir == "test"
    assert layout.test_command == ("python", "-m", "unittest", "discover")


def test_tests_inside_the_package() -> None:
    files = {"shop/__init__.py": "", "shop/tests/__init__.py": "", "shop/tests/test_cart.py": ""}
    assert layout_of(files).test_dir == "shop/tests"
    assert target_of(files).test_path == "shop/tests/test_new_tool.py"


@pytest.mark.parametrize(
    "pyproject",
    [
        "[tool",
        "\x00\xff",
        'tool = "x"',
        "[tool]\nhatch = 3\npoetry = {packages = 1}\nsetuptools = {package-dir = [1], packages = ['a']}",
        "[tool.pytest.ini_options]\ntestpaths = 3\npythonpath = [1, '../up', '/abs', 'a*']",
        "[tool.poetry]\npackages = ['a', {include = 2}]\n[project]\nname = 5",
        "[tool.hatch.build.targets.wheel]\npackages = ['../../etc', '/', '', '.git/x', 'missing']",
    ],
)
def test_broken_or_hostile_configuration_is_survived(pyproject: str) -> None:
    layout = layout_of({"pyproject.toml": pyproject, **SRC})
    assert layout.packages == ("src/shop",)
    assert "src" in layout.roots
    assert set(layout.pythonpath) <= {"src", ".", "a"}


def test_what_could_not_be_read_is_noted() -> None:
    layout = layout_of({"pyproject.toml": "[tool", "setup.cfg": "no section\n", **SRC})
    assert [note.partition(" ")[0] for note in layout.notes] == ["pyproject.toml", "setup.cfg"]


def test_the_conventional_place() -> None:
    assert target_of(SRC) == Target(
        path="src/shop/new_tool.py", module="shop.new_tool", exists=False, test_path="tests/test_new_tool.py"
    )
    assert target_of(FLAT).path == "shop/new_tool.py"
    assert target_of({"src/a.py": ""}).path == "src/new_tool.py"
    assert target_of({"README.md": ""}).path == "new_tool.py"
    assert target_of({"a/__init__.py": "", "b/__init__.py": ""}).path == "new_tool.py"


def test_an_existing_file_is_never_taken_unasked() -> None:
    files = {**SRC, "tests/unit/test_CART_2.py": ""}
    target = target_of(files, slug="cart")
    assert (target.path, target.exists, target.test_path) == (
        "src/shop/cart_2.py",
        False,
        "tests/test_cart_3.py",
    )
    assert target_of({"Tool.py": "", "tool_2/x.py": ""}, slug="tool").path == "tool_3.py"


@pytest.mark.parametrize("slug", ["json", "tests", "pytest", "conftest", "statistics", "aux"])
def test_names_that_python_needs_are_not_hidden(slug: str) -> None:
    assert target_of({"README.md": ""}, slug=slug).path == f"{slug}_module.py"


def test_inside_a_package_such_names_hide_nothing() -> None:
    assert target_of(SRC, slug="json").module == "shop.json"
    assert target_of(SRC, slug="aux").module == "shop.aux_module"
    assert target_of(SRC, slug="test_the_cart").path == "src/shop/module_test_the_cart.py"


@pytest.mark.parametrize(
    ("requested", "path", "module"),
    [
        ("src/shop/cart.py", "src/shop/cart.py", "shop.cart"),
        ("./src//shop/cart.py", "src/shop/cart.py", "shop.cart"),
        ("src\\shop\\cart.py", "src/shop/cart.py", "shop.cart"),
        ("`src/shop/cart.py`", "src/shop/cart.py", "shop.cart"),
        ("cart.py", "src/shop/cart.py", "shop.cart"),
        ("shop/cart.py", "src/shop/cart.py", "shop.cart"),
        ("shop.cart", "src/shop/cart.py", "shop.cart"),
        ("shop", "src/shop/__init__.py", "shop"),
        ("shop.price", "src/shop/price.py", "shop.price"),
        ("shop.json", "src/shop/json.py", "shop.json"),
        ("price", "src/price.py", "price"),
        ("price.py", "price.py", "price"),
        ("src/shop/", "src/shop/new_tool.py", "shop.new_tool"),
        ("src/shop", "src/shop/new_tool.py", "shop.new_tool"),
        ("src/shop/price", "src/shop/price.py", "shop.price"),
        ("shop/", "src/shop/new_tool.py", "shop.new_tool"),
        ("./", "new_tool.py", "new_tool"),
        ("scripts/run.py", "scripts/run.py", "scripts.run"),
        ("src/shop/数.py", "src/shop/数.py", "shop.数"),
    ],
)
def test_requested_paths(requested: str, path: str, module: str) -> None:
    target = target_of(SRC, requested)
    assert (target.path, target.module) == (path, module)
    assert target.exists == (path in SRC)


@pytest.mark.parametrize(
    ("requested", "reason"),
    [
        ("../other/a.py", r"'\.\.'"),
        ("src/../../a.py", r"'\.\.'"),
        ("..", r"'\.\.'"),
        ("..\\a.py", r"'\.\.'"),
        ("/etc/a.py", "absolute"),
        ("/", "absolute"),
        ("C:\\a.py", "absolute"),
        ("~/a.py", "not a path inside"),
        ("https://example.org/a.py", "not a path inside"),
        (".git/hooks/a.py", "git's own"),
        ("src/.GIT/a.py", "git's own"),
        (".github/workflows/a.py", "workflows"),
        ("data.csv", r"\.csv file is not one"),
        ("src/shop/data.json", r"\.json file is not one"),
        ("README.md", r"\.md file is not one"),
        ("src/shop/tool.PY", r"\.py file is not one"),
        ("src/shop/my-tool.py", "my_tool.py"),
        ("src/shop/2fast.py", "cannot be imported"),
        ("src/shop/class.py", "class_module.py"),
        ("shop.class", "cannot be imported"),
        ("src/shop/Cart.py", "letter case"),
        ("SRC/shop/new.py", "letter case"),
        ("src/shop/cart.py/x.py", "not a directory"),
        ("json.py", "would hide 'json'.*json_module.py"),
        ("email/tool.py", "would hide 'email'"),
        ("pytest", "would hide 'pytest'"),
        ("a\nb.py", "control character"),
        ("x" * 300 + ".py", "255 bytes"),
        ("__init__.py", "cannot be imported"),
    ],
)
def test_requests_that_are_refused(requested: str, reason: str) -> None:
    with pytest.raises(RefusalError, match=reason):
        targets_of(SRC, requested)


def test_skipped_files_and_their_insides_are_refused() -> None:
    skipped = {"src/shop/link.py": "a symbolic link", "src/module": "a submodule"}
    with pytest.raises(RefusalError, match="a symbolic link"):
        targets_of(SRC, "src/shop/link.py", skipped=skipped)
    with pytest.raises(RefusalError, match="not a directory"):
        targets_of(SRC, "src/module/x.py", skipped=skipped)


def test_an_existing_module_may_have_any_name() -> None:
    assert target_of({"json.py": ""}, "json.py").exists


def test_new_packages_get_their_init_files() -> None:
    target = target_of(SRC, "src/shop/deep/er/tool.py")
    assert target.new_package_inits == ("src/shop/deep/__init__.py", "src/shop/deep/er/__init__.py")
    assert target.module == "shop.deep.er.tool"
    assert target_of({}, "src/fresh/tool.py").new_package_inits == ("src/fresh/__init__.py",)
    assert target_of({}, "fresh/__init__.py").new_package_inits == ()
    assert target_of({}, "fresh.deep.tool").path == "fresh/deep/tool.py"
    assert target_of({"ns/a.py": ""}, "ns/b.py").new_package_inits == ()


def test_several_targets_have_their_own_tests() -> None:
    targets = targets_of(SRC, "shop.cart", "src/shop/price.py", "src/shop/cart.py")
    assert [target.path for target in targets] == ["src/shop/cart.py", "src/shop/price.py"]
    assert [target.test_path for target in targets] == [
        "tests/test_new_tool_shop_cart.py",
        "tests/test_new_tool_shop_price.py",
    ]


def test_a_requested_test_file_is_a_test_file() -> None:
    target = target_of(SRC, "src/shop/price.py", "tests/test_price_rules.py")
    assert (target.path, target.test_path) == ("src/shop/price.py", "tests/test_price_rules.py")
    only_test = target_of(SRC, "tests/test_cart.py")
    assert (only_test.path, only_test.test_path) == ("src/shop/new_tool.py", "tests/test_cart_2.py")


def test_module_names() -> None:
    layout = layout_of({**SRC, "src/shop/inner/__init__.py": ""})
    assert module_name("src/shop/inner/__init__.py", layout) == "shop.inner"
    assert module_name("tools/x.py", layout) == "tools.x"
    with pytest.raises(RefusalError, match="cannot be imported"):
        module_name("src/__init__.py", layout)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Add slugify()", "add_slugify"),
        ("  Ünïcode -- and MORE ", "unicode_and_more"),
        ("テスト", "generated"),
        ("🎉", "generated"),
        ("class", "class_module"),
        ("3D vectors", "generated_3d_vectors"),
        ("word " * 20, "_".join(["word"] * 10)),
        ("x" * 90, "x" * 50),
    ],
)
def test_slugs(text: str, slug: str) -> None:
    assert snake_slug(text) == slug


@given(st.text(max_size=200))
@example("None")
@example("lambda")
def test_every_slug_names_a_module(text: str) -> None:
    slug = snake_slug(text)
    assert slug.isidentifier()
    assert slug.isascii()
    assert not keyword.iskeyword(slug)
    assert len(slug) <= 60


_PARTS = st.sampled_from(
    [
        "src",
        "shop",
        "cart.py",
        "..",
        ".",
        "",
        ".git",
        "x.csv",
        "tests",
        "a b",
        "新.py",
        "CON.py",
        "~",
        "C:",
        "new",
    ]
)


@given(st.lists(_PARTS | st.text(max_size=5), max_size=5).map("/".join), st.sampled_from([SRC, FLAT, {}]))
def test_any_request_gives_a_safe_target_or_a_refusal(requested: str, files: dict[str, str]) -> None:
    try:
        target = target_of(files, requested)
    except RefusalError:
        return
    assert target.path.endswith(".py")
    assert not {"", ".", "..", ".git"} & set(target.path.split("/"))
    assert target.exists == (target.path in files)
    assert target.test_path not in files
    assert all(part.isidentifier() for part in target.module.split("."))
    assert target.path.removesuffix(".py").removesuffix("/__init__").endswith(target.module.replace(".", "/"))
    assert not set(target.new_package_inits) & set(files)
