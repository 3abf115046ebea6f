import pytest

from tests.pipelines.requirement.issue_text import fenced, found, parse


@pytest.mark.parametrize(
    ("source", "example"),
    [
        ("assert f(1) == 2", ("value", "f(1)", "2")),
        ("assert 2 == f(1)", ("value", "f(1)", "2")),
        ("assert f(1) is None", ("value", "f(1)", "None")),
        ("assert f(1) is True", ("value", "f(1)", "True")),
        ("assert set(f((1, 2))) == set((1, 2))", ("value", "set(f((1, 2)))", "set((1, 2))")),
        ("assert not f(1)", ("check", "", "")),
        ("assert f(1)", ("check", "", "")),
        ("assert abs(f(1) - 2) < 1e-6", ("check", "", "")),
        ("assert f(1) == f(2)", ("check", "", "")),
    ],
)
def test_asserts_in_prose_lists_and_fences(source: str, example: tuple[str, str, str]) -> None:
    assert found(f"# T\n\n{source}\n") == [example]
    assert found(f"# T\n\n- `{source}`\n") == [example]
    assert found(fenced(source)) == [example]


def test_a_check_holds_its_assert_and_the_imports_it_needs() -> None:
    (example,) = parse("# T\n\nassert math.isclose(mean([1, 2]), 1.5)\n").examples
    assert example.setup == ("import math", "assert math.isclose(mean([1, 2]), 1.5)")


def test_expected_errors() -> None:
    code = (
        "with pytest.raises(ValueError, match='x'):\n    f(-1)\n\n"
        "def test_type():\n    with pytest.raises(TypeError):\n        f(None)"
    )
    assert found(fenced(code)) == [("raises", "f(-1)", "ValueError"), ("raises", "f(None)", "TypeError")]


def test_test_functions_carry_their_local_setup() -> None:
    code = (
        "from shop import Cart\n\ndef test_total():\n    cart = Cart()\n"
        "    cart.add('tea', 2)\n    assert cart.total() == 2"
    )
    (example,) = parse(fenced(code)).examples
    assert example.setup == ("cart = Cart()", "cart.add('tea', 2)")
    assert (example.expression, example.expected) == ("cart.total()", "2")


def test_each_parametrized_row_is_a_check() -> None:
    code = "@pytest.mark.parametrize('a, b', [(1, 2), (3, 4)])\ndef test_f(a, b):\n    assert f(a) == b"
    assert [e.setup for e in parse(fenced(code)).examples] == [
        ("a, b = (1, 2)", "assert f(a) == b"),
        ("a, b = (3, 4)", "assert f(a) == b"),
    ]


def test_unittest_methods() -> None:
    code = """
class TestF(unittest.TestCase):
    def test_all(self):
        self.assertEqual(f(1), 2)
        self.assertIsNone(f(0))
        self.assertRaises(ValueError, f, -1)
        self.assertTrue(f(3))
"""
    assert [(e.kind, e.expression, e.expected) for e in parse(fenced(code)).examples] == [
        ("value", "f(1)", "2"),
        ("value", "f(0)", "None"),
        ("raises", "f(-1)", "ValueError"),
        ("check", "", ""),
    ]


def test_an_assert_over_several_lines_of_prose() -> None:
    assert found("# T\n\nassert f([1,\n  2]) == [\n  2, 1]\n") == [("value", "f([1, 2])", "[2, 1]")]


def test_fixtures_cannot_be_known_so_the_test_is_noted() -> None:
    requirement = parse(fenced("def test_it(tmp_path):\n    assert load(tmp_path) == []"))
    assert requirement.examples == ()
    assert any("tmp_path" in note for note in requirement.notes)


def test_builtins_alone_are_no_examples() -> None:
    assert found(fenced("assert sorted([2, 1]) == [1, 2]\nassert 1 + 1 == 2")) == []


def test_code_in_other_languages_is_not_read() -> None:
    assert found(fenced("assert f(1) == 2", "rust")) == []
