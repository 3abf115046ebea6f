"""Merging generated definitions into an existing module."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.errors import ModelError, RefusalError
from pipelines.merge import merge_module, public_names

EXISTING = '''\
#!/usr/bin/env python
# Copyright: someone
"""Text tools."""

import re
from os import path

# The limit.
LIMIT = 10


# Old words
# about f.
@staticmethod
def f(a):
    return a  # keep me not


class  Odd ( object ) :
    x=1


if __name__ == "__main__":
    print(f(1))
'''


def test_a_new_function_goes_before_the_main_block() -> None:
    merged = merge_module(EXISTING, "def g():\n    return 2\n")
    before, after = EXISTING.split("if __name__")
    assert merged == f"{before}def g():\n    return 2\n\n\nif __name__{after}"


def test_a_definition_is_replaced_in_place_with_its_decorators_and_comments() -> None:
    merged = merge_module(EXISTING, "import re\n\n\n# New words.\ndef f(a):\n    return a + 1\n")
    start = EXISTING.index("# Old words")
    end = EXISTING.index("\n\nclass  Odd")
    assert merged == EXISTING[:start] + "# New words.\ndef f(a):\n    return a + 1\n" + EXISTING[end:]


def test_comments_stay_where_the_new_code_has_none() -> None:
    merged = merge_module(EXISTING, "LIMIT = 20\n")
    assert merged == EXISTING.replace("LIMIT = 10", "LIMIT = 20")


def test_the_same_program_changes_no_byte() -> None:
    reprinted = ast.unparse(ast.parse(EXISTING))
    assert reprinted != EXISTING
    assert merge_module(EXISTING, reprinted) == EXISTING


def test_only_allowed_definitions_are_replaced() -> None:
    generated = "LIMIT = 99\n\n\ndef f(a):\n    return 0\n\n\ndef g():\n    return LIMIT\n"
    merged = merge_module(EXISTING, generated, allowed={"f", "g"})
    assert "LIMIT = 10" in merged
    assert "return 0" in merged
    assert "def g" in merged


def test_a_name_that_the_file_imports_is_redefined_only_when_allowed() -> None:
    existing = "from base import helper\n\nvalue = helper()\n"
    generated = "def helper():\n    return 3\n"
    assert merge_module(existing, generated, allowed=["other"]) == existing
    assert merge_module(existing, generated, allowed=["helper"]).endswith(generated)


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_are_kept(newline: str) -> None:
    merged = merge_module(EXISTING.replace("\n", newline), "import sys\n\n\ndef g():\n    return sys\n")
    expected = merge_module(EXISTING, "import sys\n\n\ndef g():\n    return sys\n")
    assert merged == expected.replace("\n", newline)


def test_generated_line_ends_do_not_matter() -> None:
    generated = "import sys\n\n\ndef g():\n    return '''a\nb'''\n"
    assert merge_module(EXISTING, generated.replace("\n", "\r\n")) == merge_module(EXISTING, generated)


def test_mixed_line_ends_stay_on_untouched_lines() -> None:
    existing = "a = 1\r\nb = 2\nc = 3\r\n"
    assert merge_module(existing, "d = 4\n") == "a = 1\r\nb = 2\nc = 3\r\n\r\n\r\nd = 4\r\n"


def test_a_missing_final_newline_stays_missing() -> None:
    assert merge_module("a = 1", "b = 2\n") == "a = 1\n\n\nb = 2"
    assert merge_module("a = 1", "a = 2\n") == "a = 2"
    assert merge_module("a = 1\nb = 2\n", "b = 3") == "a = 1\nb = 3\n"


def test_a_byte_order_mark_stays_first() -> None:
    assert merge_module("\ufeffa = 1\n", "\ufeffimport os\n") == "\ufeffimport os\n\na = 1\n"


def test_imports_join_the_others_once() -> None:
    generated = (
        "import re, sys\nfrom os import path, sep\nfrom typing import (\n    Any,\n    Final,\n)\n"
        "import sys\nfrom .near import *\n"
    )
    merged = merge_module(EXISTING, generated)
    added = (
        "import sys\nfrom os import sep\nfrom typing import (\n    Any,\n    Final,\n)\nfrom .near import *\n"
    )
    assert merged == EXISTING.replace("from os import path\n", "from os import path\n" + added)


def test_future_imports_stay_first() -> None:
    generated = "from __future__ import annotations\n\nimport sys\n"
    merged = merge_module(EXISTING, generated)
    assert merged == EXISTING.replace(
        "import re\n", "from __future__ import annotations\n\nimport re\n"
    ).replace("import path\n", "import path\nimport sys\n")
    assert merge_module("def f(): pass\n", generated) == (
        "from __future__ import annotations\n\nimport sys\n\n\ndef f(): pass\n"
    )
    assert merge_module(merged, generated) == merged
    existing = "from __future__ import division\nx = 1\n"
    assert merge_module(existing, generated).startswith(
        "from __future__ import division\nfrom __future__ import annotations\n"
    )


def test_first_imports_go_below_the_docstring_and_the_shebang() -> None:
    existing = '#!/usr/bin/python\n# -*- coding: utf-8 -*-\n"""Doc."""\nX = 1\n'
    assert merge_module(existing, "import os\n") == (
        '#!/usr/bin/python\n# -*- coding: utf-8 -*-\n"""Doc."""\n\nimport os\n\nX = 1\n'
    )


def test_late_imports_do_not_attract_new_ones() -> None:
    existing = "import a\n\n\ndef f():\n    pass\n\n\nimport late\n"
    assert merge_module(existing, "import b\n").startswith("import a\nimport b\n\n\ndef f")


def test_an_import_that_gives_a_name_another_meaning_is_refused() -> None:
    with pytest.raises(ModelError, match=r"'datetime'.*another name"):
        merge_module("from datetime import datetime\n", "import datetime\n")
    assert merge_module("import os\n", "import os.path\n") == "import os\nimport os.path\n"


def test_a_name_that_the_file_defines_is_not_imported_over() -> None:
    existing = "def helper():\n    return 1\n"
    assert merge_module(existing, "from package.module import helper\n") == existing
    fallback = "try:\n    import fast as json\nexcept ImportError:\n    json = None\n"
    assert merge_module(fallback, "import json\n") == fallback


def test_guarded_imports_come_along() -> None:
    generated = (
        "import os\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from a import B\n\n"
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n\nx = fast\n"
    )
    merged = merge_module("import os\n\ny = 1\n", generated)
    assert merged == (
        "import os\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import B\n"
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n\ny = 1\n\n\nx = fast\n"
    )
    assert merge_module(merged, generated) == merged


def test_demonstration_code_is_left_out() -> None:
    generated = (
        '"""Other doc."""\n\n\ndef g():\n    return 1\n\n\nassert g() == 1\nprint(g())\n\n'
        'if __name__ == "__main__":\n    import sys\n\n    sys.exit(g())\n'
    )
    assert merge_module("a = 1\n", generated) == "a = 1\n\n\ndef g():\n    return 1\n"


def test_statements_that_fill_a_table_are_kept() -> None:
    generated = "TABLE = {}\nfor n in range(3):\n    TABLE[n] = n * n\n"
    merged = merge_module("a = 1\n", generated)
    assert merged == f"a = 1\n\n\nTABLE = {{}}\n\n\n{generated.removeprefix('TABLE = {}' + chr(10))}"
    assert merge_module(merged, generated) == merged


def test_what_a_replaced_definition_needs_at_import_stands_above_it() -> None:
    existing = "def parse(text):\n    return []\n\n\nTOKENS = parse('')\n"
    generated = (
        "import dataclasses\n\n\ndef _helper():\n    return 1\n\n\ndef unrelated():\n    return 0\n\n\n"
        "@dataclasses.dataclass\nclass Token:\n    size: int = _helper()\n\n\n"
        "def parse(text) -> list[Token]:\n    return [Token()]\n"
    )
    merged = merge_module(existing, generated)
    namespace: dict[str, object] = {"__name__": "merged"}
    exec(compile(merged, "merged", "exec"), namespace)
    assert str(namespace["TOKENS"]).startswith("[Token(size=1)")
    assert merged.index("def _helper") < merged.index("class Token") < merged.index("def parse")
    assert merged.index("TOKENS =") < merged.index("def unrelated")
    assert merge_module(merged, generated) == merged


def test_overloads_are_one_definition() -> None:
    existing = (
        "from typing import overload\n\n\n@overload\ndef f(a: int) -> int: ...\n@overload\n"
        "def f(a: str) -> str: ...\ndef f(a):\n    return a\n\n\nz = 1\n"
    )
    merged = merge_module(existing, "def f(a):\n    return a * 2\n")
    assert merged == "from typing import overload\n\n\ndef f(a):\n    return a * 2\n\n\nz = 1\n"


def test_the_last_of_several_definitions_is_replaced() -> None:
    existing = "x = 1\ny = 2\nx = 3\n"
    assert merge_module(existing, "x = 4\n") == "x = 1\ny = 2\nx = 4\n"


def test_statements_on_one_line_stay_together() -> None:
    existing = "a = 1; b = 2\nc = 3\n"
    assert merge_module(existing, "c = 4; d = 5\n") == "a = 1; b = 2\nc = 4; d = 5\n"
    with pytest.raises(ModelError, match="remove b"):
        merge_module(existing, "a = 5\n")
    with pytest.raises(ModelError, match="remove b"):
        merge_module("a, b = 1, 2\n", "a = 1\n")


def test_exports_are_extended_in_their_own_style() -> None:
    generated = '__all__ = ["g"]\n\n\ndef g():\n    return _h()\n\n\ndef _h():\n    return 1\n'
    one_line = merge_module("__all__ = ['f']\n\n\ndef f(): ...\n", generated)
    assert one_line.startswith("__all__ = ['f', 'g']\n\n\ndef f")
    spread = merge_module('__all__ = (\n    "中",\n    "f",\n)\r\nf = 中 = 1\n', generated)
    assert spread.startswith('__all__ = (\n    "中",\n    "f",\n    "g",\n)\r\n')
    assert merge_module(spread, generated) == spread
    assert merge_module("__all__ = []\n", "g = 1\n") == "__all__ = []\n\n\ng = 1\n"
    assert merge_module("__all__ = names()\n", "g = 1\n") == "__all__ = names()\n\n\ng = 1\n"


@pytest.mark.parametrize("existing", ["", "\n", "  \n\n"])
def test_an_empty_file_takes_the_generated_module_whole(existing: str) -> None:
    generated = '"""Doc."""\n\nprint(1)\n'
    assert merge_module(existing, generated) == generated


def test_a_file_of_comments_keeps_them() -> None:
    assert merge_module("# Only words.", "a = 1\n") == "# Only words.\n\n\na = 1"
    assert merge_module('"""Doc."""\n', "import os\na = os\n") == '"""Doc."""\n\nimport os\n\n\na = os\n'


def test_multi_line_strings_and_odd_characters_do_not_confuse_the_lines() -> None:
    existing = 'A = """\n# not a comment\x0c\u2028\x1c\ndef f(): pass\n"""\nB = "ü中\x0b"; \n\x0c\nC = 1\n'
    merged = merge_module(existing, "C = 2\n")
    assert merged == existing.replace("C = 1", "C = 2")


def test_warnings_about_the_code_stay_silent() -> None:
    existing = 'import re\nP = re.compile("\\d")\nif P is 1: pass\n'
    assert merge_module(existing, "q = 1\n").startswith(existing)


@pytest.mark.parametrize(
    "generated",
    ["def f(:\n", "a = '\0'\n", "return 1\n", "(" * 300, "x = 1\nfrom __future__ import annotations\n"],
)
def test_a_generated_module_that_is_no_python_is_a_model_error(generated: str) -> None:
    with pytest.raises(ModelError, match="generated module is not valid Python"):
        merge_module(EXISTING, generated)


def test_an_existing_file_that_is_no_python_is_a_refusal() -> None:
    with pytest.raises(RefusalError, match="existing file is not valid Python"):
        merge_module("print 'old'\n", "a = 1\n")


def test_code_that_is_nested_too_deeply_is_a_model_error() -> None:
    generated = "a = " + "+".join(["1"] * 2500) + "\n"
    with pytest.raises(ModelError, match=r"generated module|nested too deeply"):
        merge_module("a = 2\n", generated)


def test_public_names() -> None:
    source = (
        "import os\nA: int = 1\n_b = 2\nb = c = 3\n\n\nclass D: ...\n\n\n"
        "async def e(): ...\ndef _f(): ...\ne = 1\n"
    )
    assert public_names(source) == ("A", "b", "c", "D", "e")
    with pytest.raises(ModelError, match="not valid Python"):
        public_names("def")


_NAMES = st.sampled_from(["alpha", "beta", "gamma", "Delta", "_eps", "ZETA"])
_COMMENTS = st.sampled_from(["", "# words\n", "# more\n# words\n", "\n", "\n\n# far\n\n"])


@st.composite
def _definitions(draw: st.DrawFn) -> str:
    name, number = draw(_NAMES), draw(st.integers(0, 3))
    shape = draw(
        st.sampled_from(
            [
                "def {0}(a={1}):\n    '''Doc\n# inside\n    '''\n    return a\n",
                "@property\n@(lambda f: f)\ndef {0}(): return {1}\n",
                "async def {0}():\n\tpass # {1}\n",
                "class {0}:\n    x = {1}\n\n    def y(self): ...\n",
                "{0} = {1}\n",
                "{0}: int = (\n  {1}\n)\n",
                "if {1}:\n    {0} = 1\nelse:\n    {0} = 2\n",
            ]
        )
    )
    return draw(_COMMENTS) + shape.format(name, number)


@st.composite
def _modules(draw: st.DrawFn) -> str:
    head = draw(
        st.sampled_from(["", '"""Doc."""\n', "#!/bin/python\n", "from __future__ import annotations\n"])
    )
    imports = draw(
        st.lists(st.sampled_from(["import os\n", "import sys, re\n", "from os import path\n"]), max_size=3)
    )
    body = draw(st.lists(_definitions(), max_size=5))
    tail = draw(st.sampled_from(["", "if __name__ == '__main__':\n    print(1)\n", "\n\n", "# end\n"]))
    source = head + "".join(imports) + "".join(body) + tail
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return (source if draw(st.booleans()) else source.rstrip("\n")).replace("\n", newline)


@settings(max_examples=60, deadline=None)
@given(_modules(), _modules())
def test_merging_keeps_every_name_and_is_stable(existing: str, generated: str) -> None:
    merged = merge_module(existing, generated)
    assert set(public_names(merged)) >= set(public_names(existing)) | set(public_names(generated))
    assert merge_module(merged, generated) == merged
    if existing.strip():
        assert merged.endswith("\n") == existing.endswith("\n")
        assert ("\r\n" in merged) <= ("\r\n" in existing or "\n" not in existing)


@settings(max_examples=60, deadline=None)
@given(_modules())
def test_merging_a_module_into_itself_changes_nothing(source: str) -> None:
    assert merge_module(source, source) == source


@settings(max_examples=60, deadline=None)
@given(_modules().filter(str.strip), st.integers(0, 9))
def test_adding_a_definition_only_inserts_lines(existing: str, number: int) -> None:
    merged = merge_module(existing, f"def brand_new():\n    return {number}\n")
    kept = iter(merged.splitlines())
    assert all(line in kept for line in existing.splitlines())


@settings(max_examples=60, deadline=None)
@given(_modules(), _modules(), st.sets(_NAMES))
def test_names_that_are_not_allowed_keep_their_definition(
    existing: str, generated: str, allowed: set[str]
) -> None:
    merged = ast.parse(merge_module(existing, generated, allowed=allowed))
    kept = {ast.dump(node) for node in merged.body}
    for node in ast.parse(existing).body:
        name = getattr(node, "name", None)
        assert name in allowed or name is None or ast.dump(node) in kept
