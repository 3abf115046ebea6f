"""Issues as maintainers write them; what is read, and which lines are noted as not read.

What is in neither list says nothing that looks like an example.
"""

from typing import NamedTuple

import pytest

from tests.pipelines.requirement.issue_text import parse


class Issue(NamedTuple):
    text: str
    read: tuple[tuple[int, str, str], ...] = ()
    noted: tuple[int, ...] = ()


ISSUES = {
    "bug-like": Issue(
        """\
Durations drop the minutes

I expected `parse_duration("1h30m")` to return `5400` but it currently returns `3600`.
Same for `parse_duration("45m")`: got `0`, expected `2700`.
""",
        read=((3, 'parse_duration("1h30m")', "5400"),),
    ),
    "bullets prose": Issue(
        """\
# Add `clamp`

Please add a `clamp(x, lo, hi)` function.

- inside the range nothing happens, e.g. `clamp(5, 0, 10)` gives 5
- below: `clamp(-1, 0, 10)` → `0`
- above
  - `clamp(11, 0, 10)` → `10`
  - also for floats: clamp(1.5, 0, 1) is 1
- swapped bounds: `clamp(1, 3, 2)` raises ValueError
""",
        read=(
            (5, "clamp(5, 0, 10)", "5"),
            (6, "clamp(-1, 0, 10)", "0"),
            (8, "clamp(11, 0, 10)", "10"),
            (9, "clamp(1.5, 0, 1)", "1"),
            (10, "clamp(1, 3, 2)", "ValueError"),
        ),
    ),
    "prompt in prose": Issue(
        """\
# running_mean

This is how I would like to use it:
>>> running_mean([1, 2, 3], 2)
[1.5, 2.5]
and an empty window should fail:
>>> running_mean([], 0)
Traceback (most recent call last):
ValueError: window must be positive
That is all.
""",
        read=((4, "running_mean([1, 2, 3], 2)", "[1.5, 2.5]"),),
    ),
    "table spans": Issue(
        r"""# Add `slugify(text, sep="-")`

| call | result | why |
|------|--------|-----|
| `slugify("A B")` | `"a-b"` | spaces |
| `slugify("A|B")` | `"a-b"` | pipes |
| `slugify("a \| b", sep="_")` | `"a_b"` | pipes again |
| `slugify("")` | `ValueError` | empty |
""",
        read=(
            (5, 'slugify("A B")', '"a-b"'),
            (7, 'slugify("a | b", sep="_")', '"a_b"'),
            (8, 'slugify("")', "ValueError"),
        ),
        noted=(6,),
    ),
    "ipython": Issue(
        """\
# top_k

In [1]: top_k([3, 1, 2], 2)
Out[1]: [3, 2]

In [2]: top_k([], 2)
Out[2]: []
""",
        read=(
            (3, "top_k([3, 1, 2], 2)", "[3, 2]"),
            (6, "top_k([], 2)", "[]"),
        ),
    ),
    "ipython fence": Issue(
        """\
# top_k

```ipython
In [1]: from heap import top_k

In [2]: xs = [3, 1, 2]

In [3]: top_k(xs, 2)
Out[3]: [3, 2]
```
""",
        read=((8, "top_k(xs, 2)", "[3, 2]"),),
    ),
    "curly": Issue(
        """\
# title case

title_case(“the lord of the rings”) should be “The Lord of the Rings”
title_case(‘o’neill’) should be ‘O’Neill’
""",
        read=((3, 'title_case("the lord of the rings")', '"The Lord of the Rings"'),),
    ),
    "semicolons": Issue(
        """\
# gcd

```
gcd(12, 18);   // 6
gcd(7, 3) == 1;
let z = gcd(0, 5); // 5
```
""",
        read=(
            (4, "gcd(12, 18)", "6"),
            (5, "gcd(7, 3)", "1"),
            (6, "gcd(0, 5)", "5"),
        ),
    ),
    "tabs": Issue(
        """\
# repeat

	repeat('ab', 2)	->	'abab'
	repeat('', 2)	->	''
""",
        read=(
            (3, "repeat('ab', 2)", "'abab'"),
            (4, "repeat('', 2)", "''"),
        ),
    ),
    "commented fence": Issue(
        """\
# chunk

```python
# chunk([1, 2, 3], 2)  -> [[1, 2], [3]]
# chunk([], 2)
# => []
x = chunk([1], 1)  # [[1]]
# chunk([1, 2], 0) should raise ValueError
```
""",
        read=(
            (4, "chunk([1, 2, 3], 2)", "[[1, 2], [3]]"),
            (5, "chunk([], 2)", "[]"),
            (7, "chunk([1], 1)", "[[1]]"),
            (8, "chunk([1, 2], 0)", "ValueError"),
        ),
    ),
    "explained": Issue(
        """\
# square

square(2) == 4 (because 2*2)
square(3) == 9, since 3*3 = 9
square(-1) == 1   <- sign is lost
square(0) == 0 // trivial
""",
        read=(
            (3, "square(2)", "4"),
            (4, "square(3)", "9"),
            (6, "square(0)", "0"),
        ),
        noted=(5,),
    ),
    "approx": Issue(
        """\
# circle area

area(1) ≈ 3.14159
area(2) ~ 12.57
`area(3)` is about 28.27
`area(4)` should be approximately `50.265`
area(0) == 0.0
""",
        read=((7, "area(0)", "0.0"),),
        noted=(3, 4),
    ),
    "dates": Issue(
        """\
# next_workday

next_workday(date(2024, 3, 1)) -> date(2024, 3, 4)
next_workday("2024-03-01") -> "2024-03-04"
next_workday(2024-03-01) -> 2024-03-04
`next_workday("2024-03-01")` returns 2024-03-04
""",
        read=(
            (3, "next_workday(date(2024, 3, 1))", "date(2024, 3, 4)"),
            (4, 'next_workday("2024-03-01")', '"2024-03-04"'),
        ),
    ),
    "json": Issue(
        """\
# flags

`parse_flag("yes")` -> true
`parse_flag("no")` -> false
`parse_flag("maybe")` -> null
parse_flag(null) => undefined
""",
        read=(
            (3, 'parse_flag("yes")', "True"),
            (4, 'parse_flag("no")', "False"),
            (5, 'parse_flag("maybe")', "None"),
        ),
    ),
    "negative": Issue(
        """\
# dedupe

`dedupe([1, 1])` must not return `[1, 1]`
`dedupe([1, 1])` should never be `[]`
dedupe([1, 1]) != [1, 1]
`dedupe([2, 1])` shouldn't return `[1, 2]`, the order counts
`dedupe([3])` returns `[3]`, not `3`
don't let dedupe([]) == None happen
It is wrong that `dedupe([4])` returns `[]`.
""",
        read=((7, "dedupe([3])", "[3]"),),
        noted=(5, 8, 9),
    ),
    "got expected": Issue(
        """\
# Wrong median

    median([1, 2, 3, 4])
    expected: 2.5
    got: 2

    median([1]) # got None, expected 1
    median([5])  # None
""",
        read=((8, "median([5])", "None"),),
    ),
    "before after": Issue(
        """\
# Keep order

Before: `uniq("baa")` returns `"ab"`
After: `uniq("baa")` returns `"ba"`

At the moment uniq("cc") == "cc", which is wrong.
""",
        read=((4, 'uniq("baa")', '"ba"'),),
        noted=(3, 6),
    ),
    "quoted thread": Issue(
        """\
# Re: wrap

> wrap("a b", 1) == ["a b"]

I disagree, `wrap("a b", 1)` should be `["a", "b"]`.
""",
        read=(
            (3, 'wrap("a b", 1)', '["a b"]'),
            (5, 'wrap("a b", 1)', '["a", "b"]'),
        ),
    ),
    "ellipsis": Issue(
        """\
# primes

primes(10) -> [2, 3, 5, 7]
primes(1000) -> [2, 3, 5, ..., 997]
primes() -> 2, 3, 5, ...
primes(n) -> list of primes below n
""",
        read=((3, "primes(10)", "[2, 3, 5, 7]"),),
        noted=(4, 5),
    ),
    "conditionals": Issue(
        """\
# fizz

`fizz(3)` returns `"Fizz"` if strict is off
`fizz(5)` should return `"Buzz"` or `"buzz"`
`fizz(7)` returns either `7` or `"7"`
fizz(15) -> "FizzBuzz" | "fizzbuzz"
`fizz(30)` returns `"FizzBuzz"` unless `strict=True` was given
""",
        noted=(3, 4, 6, 7),
    ),
    "units": Issue(
        """\
# human_size

human_size(1024) -> 1 KiB
human_size(2048) -> "2 KiB"
`human_size(10)` is 10 bytes
human_size(5) = 5B
`human_size(0)` returns 0 as a string
""",
        read=((4, "human_size(2048)", '"2 KiB"'),),
        noted=(3, 6, 7),
    ),
    "perf": Issue(
        """\
# fast fib

fib(30) takes 3 seconds. fib(10) is 55 and should return in 1 ms.
With caching, `fib(100)` should be 10 times faster. `fib(3)` is 2 calls deep.
fib(20) => 6765 in under 5 ms
""",
        read=((3, "fib(10)", "55"),),
        noted=(5,),
    ),
    "methods": Issue(
        """\
# LRU cache

```python
cache = LRU(2)
cache.put(1, "a")
cache.get(1)       # "a"
cache.put(2, "b")
cache.put(3, "c")  # evicts 1
cache.get(1)       # None
len(cache)         # 2
```
""",
        read=(
            (6, "cache.get(1)", '"a"'),
            (9, "cache.get(1)", "None"),
            (10, "len(cache)", "2"),
        ),
    ),
    "cli": Issue(
        """\
# Add a `--json` flag

Running `tool list --json` prints `[]`.

$ tool count a b
2
""",
    ),
    "proposal": Issue(
        """\
### Is your feature request related to a problem?

I'm always frustrated when `os.path.join("a", "/b")` returns `"/b"`.

### Describe the solution you'd like

`safe_join("a", "/b")` returning `"a/b"`. And `safe_join("a", "..")` raising `ValueError`.

### Alternatives

`posixpath.join("a", "b") == "a/b"`
""",
        read=(
            (7, 'safe_join("a", "/b")', '"a/b"'),
            (7, 'safe_join("a", "..")', "ValueError"),
        ),
        noted=(3, 11),
    ),
    "equation in prose": Issue(
        """\
# Interest

interest(p, r, t) = p * r * t / 100, so interest(100, 5, 2) = 100 * 5 * 2 / 100 = 10.
f(0) = 1, f(n) = n * f(n - 1)
""",
        read=((3, "interest(100, 5, 2)", "10"),),
        noted=(4,),
    ),
    "named args": Issue(
        """\
# pad

- `pad("7", width=3)` → `"007"`
- `pad("7", width=3, fill=" ")` → `"  7"`
- `pad(7)` → TypeError: expected str, got int
- `pad("1234", width=3)` → `"1234"` (never truncates)
""",
        read=(
            (3, 'pad("7", width=3)', '"007"'),
            (4, 'pad("7", width=3, fill=" ")', '"  7"'),
            (5, "pad(7)", "TypeError"),
            (6, 'pad("1234", width=3)', '"1234"'),
        ),
    ),
    "nested quote": Issue(
        """\
# unquote

1. `unquote('"a"')` → `a`
2. `unquote("'b'")` → `'b'`
3. ``unquote("`c`")`` → ``"c"``
""",
        read=(
            (4, "unquote(\"'b'\")", "'b'"),
            (5, 'unquote("`c`")', '"c"'),
        ),
        noted=(3,),
    ),
    "await and dict": Issue(
        """\
# fetch_all

```python
await fetch_all(["a"]) == {"a": 1}
result = parse("a=1&b=2")
# {"a": "1", "b": "2"}
result == {"a": "1", "b": "2"}
parse("") == {}  and  parse("?") == {}
```
""",
        read=(
            (8, 'parse("")', "{}"),
            (8, 'parse("?")', "{}"),
        ),
        noted=(4,),
    ),
    "io block": Issue(
        """\
# Roman numerals

Implement `to_roman(n: int) -> str`.

**Input**: `n = 4`
**Output**: `"IV"`

Input: n = 9
Expected output: "IX"

Input
58
Output
LVIII
""",
        read=(
            (5, "to_roman(4)", '"IV"'),
            (8, "to_roman(9)", '"IX"'),
        ),
        noted=(12,),
    ),
    "versus": Issue(
        """\
# Rounding

`round_half(2.5)` returns `3` whereas `round(2.5)` returns `2`.
Python's `round_half(0.5)` returned `0` in v1; in v2 it should return `1`.
`round_half(1.5)` used to return `1`.
Today round_half(3.5) gives 3. It should give 4.
""",
        read=(
            (3, "round_half(2.5)", "3"),
            (6, "round_half(3.5)", "4"),
        ),
        noted=(3,),
    ),
    "print": Issue(
        """\
# Box

```python
print(box("hi"))
# +--+
# |hi|
# +--+
```
prints a box. `print(line(3))` prints `---`.
""",
    ),
    "set": Issue(
        """\
# tags

tags("#a #b") -> {"a", "b"}
tags("") -> set()
tags("x") -> {}
tags("#a")[0] -> "a"
len(tags("#a #b")) == 2
"a" in tags("#a")
""",
        read=(
            (3, 'tags("#a #b")', '{"a", "b"}'),
            (4, 'tags("")', "set()"),
            (5, 'tags("x")', "{}"),
            (6, 'tags("#a")[0]', '"a"'),
            (7, 'len(tags("#a #b"))', "2"),
        ),
    ),
    "todo checks": Issue(
        """\
# parse_int

- [ ] parse_int("1") == 1
- [x] parse_int("x") is None
- [ ] parse_int("1.0") == 1?
- [ ] parse_int("0x10") == 16 ???
- [ ] maybe parse_int("") == 0
- [ ] should parse_int(" 1") be 1 or an error?
""",
        read=(
            (3, 'parse_int("1")', "1"),
            (4, 'parse_int("x")', "None"),
        ),
        noted=(5, 6, 7, 8),
    ),
    "larger expressions": Issue(
        """\
# T

2 * f(1) == 4
not f(2) == 3
await f(3) == 3
f(4) == 2 * x
f(5) == 2 - x
x = f(6)  # 6
-f(7) == 7
- f(8) == 8
* f(9) == 9
**f(10)** == 10
f(11) == 2 - two dashes here
Result: **`f(12)` → `3`** and so on
"a" in f(13) == True
g(1) + f(14) == 14
1. f(15) == 15
(f(16) == 16)
len(f(17)) == 17
""",
        read=(
            (8, "f(6)", "6"),
            (10, "f(8)", "8"),
            (11, "f(9)", "9"),
            (12, "f(10)", "10"),
            (13, "f(11)", "2"),
            (14, "f(12)", "3"),
            (17, "f(15)", "15"),
            (18, "f(16)", "16"),
            (19, "len(f(17))", "17"),
        ),
        noted=(3, 4, 5, 6, 7, 9, 15, 16),
    ),
    "refused in other languages": Issue(
        """\
# T

- `f(1)` は `2` を返さない
- `f(2)` は `2` を返してはいけない
- `f(3)` は `2` を返さなければならない
- `f(5)`는 `2`를 반환하지 않는다
- `f(6)` soll nicht `2` ergeben
- `f(7)` ne doit pas retourner `2`
- `f(8)` no debe devolver `2`
- `f(9)` 不应该返回 `2`
- `f(10)` не должна вернуть `2`
- never let `f(11)` return `2`
- It makes `f(12)` to return `2`
- Please make `f(13)` return `2`
""",
        read=(
            (5, "f(3)", "2"),
            (14, "f(13)", "2"),
        ),
        noted=(3, 4, 6, 7, 12, 13),
    ),
    "wrapped prose": Issue(
        """\
# T

It is wrong that
`f(4)` returns `[]`.

When the list is empty, `f(5)` returns `None`.
I want `f(6)` to be `7`, as `f(7)` returns `8`.
Bug: `f(8)` should return `9`
""",
        read=(
            (6, "f(5)", "None"),
            (7, "f(6)", "7"),
            (7, "f(7)", "8"),
            (8, "f(8)", "9"),
        ),
        noted=(4,),
    ),
}


@pytest.mark.parametrize("name", ISSUES)
def test_what_is_read_and_what_is_noted(name: str) -> None:
    issue = ISSUES[name]
    requirement = parse(issue.text)
    assert [(e.line, e.expression, e.expected) for e in requirement.examples] == list(issue.read)
    assert [note.partition(":")[0] for note in requirement.notes] == [f"line {line}" for line in issue.noted]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("before after", "it may describe what happens today"),
        ("conditionals", "it holds under a condition only"),
        ("conditionals", "it gives more than one result"),
        ("ellipsis", "it gives more than one result"),
        ("approx", "its result is not exact"),
        ("todo checks", "it is a question"),
        ("larger expressions", "it is part of a larger expression"),
        ("refused in other languages", "it may say what must not happen"),
        ("refused in other languages", "it does not say that this is wanted"),
    ],
)
def test_the_note_says_why(name: str, reason: str) -> None:
    assert any(reason in note for note in parse(ISSUES[name].text).notes)


def test_earlier_lines_are_run_first() -> None:
    examples = parse(ISSUES["methods"].text).examples
    assert examples[1].setup == (
        "cache = LRU(2)",
        "cache.put(1, 'a')",
        "cache.get(1)",
        "cache.put(2, 'b')",
        "cache.put(3, 'c')",
    )
    assert parse(ISSUES["ipython fence"].text).examples[0].setup == ("xs = [3, 1, 2]",)


def test_an_expected_error_is_kept_apart_from_a_value() -> None:
    kinds = [(e.line, e.kind) for e in parse(ISSUES["named args"].text).examples]
    assert kinds == [(3, "value"), (4, "value"), (5, "raises"), (6, "value")]
