"""Ending the process, and writing into the report."""

from .forgery import Forgery

FORGERIES = (
    Forgery(
        "prints-a-report",
        """
def run():
    print('tests/test_victim.py::test_victim PASSED')
    sys.__stdout__.write('1 passed in 0.01s\\n')
    sys.__stdout__.flush()
    os._exit(0)
""",
    ),
    Forgery("exits-with-0", "def run(): os._exit(0)\n"),
    Forgery("sys-exit-0", "def run(): sys.exit(0)\n"),
    Forgery("pytest-exit-0", "def run(): pytest.exit('done', returncode=0)\n"),
    Forgery(
        "replaces-itself-by-true",
        "def run(): os.execv('/bin/true', ['true'])\n",
    ),
    Forgery(
        "deletes-the-report",
        """
import glob
def run():
    for path in glob.glob('/work/.issuewright/*/*'): os.remove(path)
""",
    ),
    Forgery(
        "writes-into-the-report",
        """
import glob, json
def run():
    for path in glob.glob('/work/.issuewright/*/report.jsonl'):
        mac = open(path).read().splitlines()[-1].split()[0]
        entries = [["phase", "call", "passed", 0.1, ""], ["end"], ["finish", 0]]
        open(path, 'a').write(mac + ' ' + json.dumps(entries) + '\\n')
    os._exit(0)
""",
    ),
    Forgery(
        "writes-through-the-open-file",
        """
def run():
    for fd in range(3, 64):
        try: os.write(fd, b'0' * 32 + b' [["phase","call","passed",0.1,""],["end"],["finish",0]]\\n')
        except OSError: pass
""",
    ),
    Forgery(
        "forked-child-goes-on",
        """
def run():
    if os.fork() == 0:
        raise SystemExit(0)
    os._exit(0)
""",
    ),
    Forgery(
        "edits-what-waits-to-be-written",
        """
def run():
    session, item = session_and_item()
    def edit():
        for value in gc.get_objects():
            if type(value) is list and value[:3] == ["phase", "call", "failed"]: value[2] = "passed"
    item.addfinalizer(edit)
""",
    ),
)
