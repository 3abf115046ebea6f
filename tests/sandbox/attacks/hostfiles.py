"""The host's files and secrets, to read or to change; `test_attacks` plants both and looks again after."""

from .attack import NOT_THERE, NOT_WRITABLE, Attack

_SEARCH = """
import glob
mark = b"canary" + b"-of-the-host"
def searched(paths):
    looked = 0
    for path in paths:
        try:
            with open(path, "rb") as file:
                content = file.read(1 << 20)
        except OSError:
            continue
        looked += 1
        if mark in content:
            print("FOUND in", path, content[content.index(mark):][:80])
    print("looked at", looked > 0)
"""

ATTACKS = (
    Attack(
        name="environment-of-every-process",
        program=_SEARCH
        + """
searched(glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/task/*/environ"))
print("own", any(mark.decode() in value for value in os.environ.values()))
print("variables", sorted(os.environ))
""",
        said=("looked at True", "own False"),
        unsaid=("FOUND", "TOKEN", "SECRET", "PASSWORD", "API_KEY", "DOCKER_HOST", "SSH_"),
    ),
    Attack(
        name="command-lines-and-descriptors-of-every-process",
        program=_SEARCH
        + """
searched(glob.glob("/proc/[0-9]*/cmdline"))
searched(glob.glob("/proc/[0-9]*/mountinfo") + glob.glob("/proc/[0-9]*/cgroup"))
for link in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        target = os.readlink(link)
    except OSError:
        continue
    if target.startswith("/") and not target.startswith(("/proc/", "/dev/null")):
        print("OPEN", target)
""",
        said=("looked at True",),
        unsaid=("FOUND", "OPEN"),
    ),
    Attack(
        name="own-memory-searched",
        program=_SEARCH
        + """
hits = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        span, rights = line.split()[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if "[stack]" in line:
            memory.seek(start)
            hits += mark + b"-" in memory.read(end - start)
print("hits", hits)
""",
        said=("hits 0",),
    ),
    Attack(
        name="planted-file-read",
        program="""
path = BAIT["file"]
for prefix in ("", "/proc/1/root", "/proc/self/root", "/proc/1/cwd/../../../..", "/work/../../../..",
               "/proc/self/cwd/../../..", "/dev/fd/../../.."):
    attempt(prefix or "plain", open_close, prefix + path)
os.symlink(path, "link")
attempt("by-link", open_close, "link")
attempt("by-hard-link", os.link, path, "hard")
attempt("folder", os.listdir, os.path.dirname(path))
""",
        denied=NOT_THERE | {"ENOTDIR"},
    ),
    Attack(
        name="private-files-of-the-host",
        program="""
for path in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/root/.ssh/id_rsa", "/root/.bash_history",
             "/root/.docker/config.json", "/etc/machine-id", "/etc/ssh/ssh_host_rsa_key", "/etc/hostname.bak",
             "/var/lib/docker/image", "/var/log/syslog", "/run/secrets/token", "/boot/grub/grub.cfg",
             "/var/run/secrets/kubernetes.io/serviceaccount/token", "/proc/kcore"):
    attempt(path, open_close, path)
""",
        denied=NOT_THERE | {"ENOTDIR"},
    ),
    Attack(
        name="homes-are-empty",
        shell=True,
        program="""
base=$(python3 -c 'import sys; print(sys.base_prefix)')
find /root /home /var/spool/cron -mindepth 1 -path "$base" -prune -o -not -type d -print 2>/dev/null |
    sed 's/^/HOME /'
echo through
""",
        said=("through",),
        unsaid=("HOME /",),
    ),
    Attack(
        name="toolchain-written",
        program="""
import pytest, sysconfig
folders = {os.path.dirname(pytest.__file__), os.path.dirname(os.path.realpath(sys.executable)),
           os.path.dirname(os.__file__), *sysconfig.get_paths().values(), *filter(os.path.isdir, sys.path),
           "/usr", "/usr/bin", "/usr/local/bin", "/usr/lib", "/bin", "/sbin", "/lib", "/opt", "/opt/packages"}
folders -= {"", "/work"}
for folder in sorted(folders):
    for name in (TOKEN, TOKEN + ".pth", "sitecustomize.py"):
        attempt(f"{folder}/{name}", open_close, f"{folder}/{name}", os.O_WRONLY | os.O_CREAT)
""",
        denied=NOT_WRITABLE,
    ),
    Attack(
        name="toolchain-changed",
        program="""
import pytest
for path in (pytest.__file__, os.__file__, os.path.realpath(sys.executable), "/bin/sh", "/usr/bin/env",
             "/etc/passwd", "/etc/group", "/etc/hosts"):
    attempt(path, open_close, path, os.O_RDWR)
    attempt(path + " mode", os.chmod, path, 0o666)
    attempt(path + " owner", os.chown, path, os.getuid(), os.getgid())
    attempt(path + " name", os.rename, path, path + ".old")
    attempt(path + " gone", os.unlink, path)
    attempt(path + " time", os.utime, path)
""",
        denied=NOT_WRITABLE | {"EBUSY", "EXDEV"},
    ),
    Attack(
        name="accounts-written",
        shell=True,
        program="""
echo "$1:x:0:0::/:/bin/sh" >> /etc/passwd && echo WRITTEN
echo "127.0.0.1 $1" >> /etc/hosts && echo WRITTEN
echo "nameserver 192.0.2.1" > /etc/resolv.conf && echo WRITTEN
echo /work/evil.so > /etc/ld.so.preload && echo WRITTEN; echo "$1" > /etc/cron.d/x && echo WRITTEN
echo "$1" > /root/.profile && echo WRITTEN; touch /var/spool/cron/root && echo WRITTEN
echo through
""",
        said=("through",),
        unsaid=("WRITTEN",),
    ),
)
