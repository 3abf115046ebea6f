"""Whether an attack ended as it should."""

from sandbox import ExecResult, LimitKind

from .attack import ALLOWED, DENIED, FINISHED, STARTED, Attack


def faults_of(attack: Attack, result: ExecResult) -> list[str]:
    """What an attack did otherwise than expected, in words."""
    said = result.stdout.text
    faults = [f"did not say {text!r}" for text in (STARTED, *attack.said) if text not in said]
    faults += [f"said {text!r}" for text in attack.unsaid if text in said]
    if result.limit not in attack.named:
        faults.append(f"limit {result.limit!r}, not one of {sorted(map(str, attack.named))}")
    if attack.exit_codes is not None and result.exit_code not in attack.exit_codes:
        faults.append(f"exit code {result.exit_code}, not one of {sorted(attack.exit_codes)}")
    if attack.denied:
        faults += _not_denied(attack, said)
    return faults + _oversized(attack, result)


def _not_denied(attack: Attack, said: str) -> list[str]:
    """An attempt that was allowed, or failed for a reason that says nothing about the box."""
    faults = [] if FINISHED in said else ["did not come to its end"]
    lines = [line.split() for line in said.splitlines()]
    faults += [f"{line[0]} was allowed" for line in lines if line[-1:] == [ALLOWED]]
    denials = [line for line in lines if line[-2:-1] == [DENIED]]
    faults += [f"{line[0]}: {line[-1]}" for line in denials if line[-1] not in attack.denied]
    return faults if denials else [*faults, "nothing was denied"]


def _oversized(attack: Attack, result: ExecResult) -> list[str]:
    faults = []
    for name in ("stdout", "stderr"):
        stream = getattr(result, name)
        if len(stream.head) + len(stream.tail) > attack.limits.output_bytes:
            faults.append(f"more of {name} was kept than the limit allows")
    dropped = result.stdout.dropped_bytes + result.stderr.dropped_bytes
    if (result.limit is LimitKind.OUTPUT) != (dropped > 0):
        faults.append(f"limit {result.limit!r} with {dropped} bytes dropped")
    return faults
