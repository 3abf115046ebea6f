"""Which Job of an issue an order makes, if any."""

from bot.jobs.types import JobOrder, JobView


def next_generation(latest: JobView | None, order: JobOrder) -> int | None:
    """The new Job's generation; None where the latest Job serves the order already.

    One live Job per issue; and what the issue was opened with asks only once, however often it is delivered.
    """
    if latest is None:
        return 1
    if latest.live or order.at_creation:
        return None
    return latest.request.generation + 1
