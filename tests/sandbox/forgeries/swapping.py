"""Running something else than the test."""

from .forgery import NOTHING, Forgery

FORGERIES = (
    Forgery(
        "swaps-the-function",
        NOTHING,
        {
            "tests/test_a.py": """
import evil
def test_a():
    session, item = evil.session_and_item()
    session.items[-1].obj = lambda: None
""",
        },
    ),
    Forgery(
        "swaps-the-code",
        NOTHING,
        {
            "tests/test_a.py": """
import evil
def nothing(): pass
def test_a():
    session, item = evil.session_and_item()
    session.items[-1].obj.__code__ = nothing.__code__
""",
        },
    ),
    Forgery(
        "swaps-runtest",
        NOTHING,
        {
            "tests/test_a.py": """
import evil
def test_a():
    session, item = evil.session_and_item()
    session.items[-1].runtest = lambda: None
""",
        },
    ),
    Forgery(
        "swaps-the-class-of-the-item",
        NOTHING,
        {
            "tests/test_a.py": """
import evil, pytest
class Passing(pytest.Function):
    def runtest(self): pass
def test_a():
    session, item = evil.session_and_item()
    session.items[-1].__class__ = Passing
""",
        },
    ),
    Forgery(
        "swaps-the-item",
        NOTHING,
        {
            "tests/test_a.py": """
import evil, pytest
class Fake(pytest.Item):
    def runtest(self): pass
def test_a():
    session, item = evil.session_and_item()
    victim = session.items[-1]
    fake = Fake.from_parent(victim.parent, name=victim.name)
    fake._nodeid = victim.nodeid
    session.items[-1] = fake
""",
        },
    ),
    Forgery(
        "removes-the-item",
        NOTHING,
        {
            "tests/test_a.py": """
import evil
def test_a():
    session, item = evil.session_and_item()
    del session.items[-1]
""",
        },
    ),
    Forgery(
        "rewrites-the-test-file",
        NOTHING,
        {
            "tests/test_a.py": """
open('/work/tests/test_victim.py', 'w').write('def test_victim(): pass\\n')
def test_a(): pass
""",
        },
    ),
    Forgery(
        "deletes-the-test-file",
        NOTHING,
        {"tests/test_a.py": "import os\nos.remove('/work/tests/test_victim.py')\ndef test_a(): pass\n"},
    ),
    Forgery(
        "plants-bytecode",
        NOTHING,
        {
            "tests/test_a.py": """
import importlib.util, marshal, os, struct, sys, pytest
path = '/work/tests/test_victim.py'
stat = os.stat(path)
code = compile('def test_victim(): pass', path, 'exec')
data = importlib.util.MAGIC_NUMBER + b'\\0' * 4 + struct.pack('<LL', int(stat.st_mtime), stat.st_size)
os.makedirs('/work/tests/__pycache__', exist_ok=True)
for tag in (f'{sys.implementation.cache_tag}-pytest-{pytest.__version__}', sys.implementation.cache_tag):
    open(f'/work/tests/__pycache__/test_victim.{tag}.pyc', 'wb').write(data + marshal.dumps(code))
def test_a(): pass
""",
        },
    ),
    Forgery(
        "jumps-over-the-assertion",
        """
def run():
    frame = sys._getframe(1)
    def jump(f, event, arg):
        if f is frame and event == 'line': f.f_lineno = frame.f_code.co_firstlineno + 3
        return jump
    frame.f_trace = jump
    sys.settrace(jump)
""",
        {
            "tests/test_victim.py": (
                "import evil\ndef test_victim():\n    evil.run()\n    assert 1 == 2\n    x = 1\n"
            ),
        },
    ),
    Forgery(
        "unittest-forgets-its-failure",
        """
def run():
    session, item = session_and_item()
""",
        {
            "tests/test_victim.py": """
import unittest, evil
class TestVictim(unittest.TestCase):
    def test_victim(self):
        session, item = evil.session_and_item()
        self.addCleanup(lambda: setattr(item, '_excinfo', None))
        self.assertEqual(1, 2)
""",
        },
    ),
    Forgery(
        "unittest-runs-nothing",
        NOTHING,
        {
            "tests/test_a.py": """
import evil
def test_a():
    session, item = evil.session_and_item()
    session.items[-1].parent.obj.run = lambda self, result: None
""",
            "tests/test_victim.py": (
                "import unittest\nclass TestVictim(unittest.TestCase):\n"
                "    def test_victim(self): self.assertEqual(1, 2)\n"
            ),
        },
    ),
)
