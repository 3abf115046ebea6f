"""Whatever listens on the host or beyond it; `test_attacks` checks that nobody came to the host's servers."""

from .attack import NOT_PERMITTED, NOT_THERE, Attack

_UNREACHABLE = frozenset({"ENETUNREACH", "ECONNREFUSED", "EACCES", "EPERM", "EADDRNOTAVAIL", "EHOSTUNREACH"})
_NO_FAMILY = NOT_PERMITTED | {"EAFNOSUPPORT", "ESOCKTNOSUPPORT", "EPROTONOSUPPORT", "ENETUNREACH"}

_CONNECT = """
import socket
def connected(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as probe:
        probe.settimeout(2)
        probe.connect(address)
        probe.send(b"x")
"""

ATTACKS = (
    Attack(
        name="loopback-of-the-host",
        program=_CONNECT
        + """
attempt("v4", connected, socket.AF_INET, ("127.0.0.1", BAIT["port"]))
attempt("v6", connected, socket.AF_INET6, ("::1", BAIT["port"]))
attempt("any", connected, socket.AF_INET, ("0.0.0.0", BAIT["port"]))
attempt("mapped", connected, socket.AF_INET6, ("::ffff:127.0.0.1", BAIT["port"]))
""",
        denied=_UNREACHABLE | {"EAFNOSUPPORT"},
    ),
    Attack(
        name="cloud-metadata",
        program=_CONNECT
        + """
for address in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16"):
    attempt(address, connected, socket.AF_INET, (address, 80))
attempt("v6", connected, socket.AF_INET6, ("fd00:ec2::254", 80))
""",
        denied=_UNREACHABLE | {"EAFNOSUPPORT"},
    ),
    Attack(
        name="hosts-on-the-way",
        program=_CONNECT
        + """
for address in ("172.17.0.1", "10.0.2.2", "192.168.0.1", "192.0.2.1"):
    attempt(address, connected, socket.AF_INET, (address, 2375))
    attempt(address + "-datagram", connected, socket.AF_INET, (address, 53), socket.SOCK_DGRAM)
""",
        denied=_UNREACHABLE,
    ),
    Attack(
        name="names",
        program="""
import socket
def resolved(name):
    try:
        socket.getaddrinfo(name, 80)
    except socket.gaierror as error:
        raise ConnectionRefusedError(errno.ECONNREFUSED, str(error)) from error
for name in ("example.com", "metadata.google.internal", "host.docker.internal", TOKEN + ".example.com"):
    attempt(name, resolved, name)
""",
        denied=_UNREACHABLE,
    ),
    Attack(
        name="only-loopback",
        program="""
import socket
tunnels = {"tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6gre0"}
print("interfaces", sorted({name for _, name in socket.if_nameindex()} - tunnels))
with open("/proc/net/route") as file:
    print("routes", len(file.readlines()) - 1)
""",
        said=("interfaces ['lo']", "routes 0"),
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="abstract-socket-of-the-host",
        program=_CONNECT
        + """
attempt("stream", connected, socket.AF_UNIX, "\\0" + BAIT["abstract"])
with open("/proc/net/unix") as file:
    print("SEEN" if BAIT["abstract"] in file.read() else "unseen")
""",
        denied=_UNREACHABLE,
        unsaid=("SEEN",),
    ),
    Attack(
        name="sockets-of-the-host",
        program=_CONNECT
        + """
import glob
wanted = [BAIT["socket"], "/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock",
          "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private",
          "/run/crio/crio.sock", "/var/run/nscd/socket"]
for path in wanted + glob.glob("/proc/1/root/run/*.sock"):
    attempt(path, connected, socket.AF_UNIX, path)
""",
        denied=NOT_THERE | {"ECONNREFUSED", "ENOTDIR"},
    ),
    Attack(
        name="raw-and-packet-sockets",
        program="""
import socket
def opened(*kind):
    socket.socket(*kind).close()
attempt("icmp", opened, socket.AF_INET, socket.SOCK_RAW, 1)
attempt("ip", opened, socket.AF_INET, socket.SOCK_RAW, 255)
attempt("icmp6", opened, socket.AF_INET6, socket.SOCK_RAW, 58)
attempt("packet", opened, 17, socket.SOCK_RAW, 0x0300)
attempt("packet-datagram", opened, 17, socket.SOCK_DGRAM, 0x0300)
""",
        denied=_NO_FAMILY,
    ),
    Attack(
        name="socket-families",
        program="""
import socket
FAMILIES = {"alg": 38, "vsock": 40, "bluetooth": 31, "can": 29, "tipc": 30, "rds": 21, "key": 15, "x25": 9,
            "ax25": 3, "appletalk": 5, "netrom": 6, "rose": 11, "llc": 26, "pppox": 24, "phonet": 35,
            "ieee802154": 36, "nfc": 39, "kcm": 41, "qipcrtr": 42, "smc": 43, "xdp": 44}
for name, number in FAMILIES.items():
    for kind in (1, 2, 3, 5):
        attempt(f"{name}-{kind}", lambda: socket.socket(number, kind, 0).close())
""",
        denied=_NO_FAMILY,
    ),
    Attack(
        name="network-changes-by-netlink",
        program="""
import socket, struct
def changed(kind, body):
    with socket.socket(16, socket.SOCK_RAW, 0) as link:
        link.settimeout(2)
        link.send(struct.pack("IHHII", 16 + len(body), kind, 5, 1, 0) + body)
        code = struct.unpack_from("i", link.recv(4096), 16)[0]
        if code:
            raise OSError(-code, "netlink")
attempt("link-down", changed, 16, struct.pack("BxHiII", 0, 0, 1, 0, 1))
attempt("new-address", changed, 20, struct.pack("BBBBI", 2, 24, 0, 0, 1)
        + struct.pack("HH4s", 8, 2, bytes([10, 9, 9, 9])))
attempt("new-route", changed, 24, struct.pack("8BI", 2, 0, 0, 0, 254, 3, 0, 1, 0))
""",
        denied=_NO_FAMILY,
    ),
    Attack(
        name="other-netlink-families",
        program="""
import socket
def opened(number):
    with socket.socket(16, socket.SOCK_RAW, number) as link:
        link.bind((0, 0xFFFFFFFF))
for name, number in {"audit": 9, "uevent": 15, "netfilter": 12, "crypto": 21, "generic": 16}.items():
    attempt(name, opened, number)
""",
        denied=_NO_FAMILY,
    ),
    Attack(
        name="privileged-ports-and-interfaces",
        program="""
import fcntl, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
    attempt("down", fcntl.ioctl, probe, 0x8914, struct.pack("16sH14x", b"lo", 0))
    address = struct.pack("16sHH4s8x", b"lo", 2, 0, bytes([10, 0, 0, 1]))
    attempt("address", fcntl.ioctl, probe, 0x8916, address)
    attempt("bind-device", probe.setsockopt, socket.SOL_SOCKET, 36, 7)
    attempt("transparent", probe.setsockopt, socket.SOL_IP, 19, 1)
""",
        denied=NOT_PERMITTED,
    ),
)
