"""Starting and stopping Jobs, with the status comment that tells of it."""

import asyncio

from bot.behaviours.context import Bot
from bot.behaviours.orders import is_served, wanted_kind
from bot.behaviours.status import order_language, show, show_status
from bot.jobs.history import next_generation
from bot.jobs.types import JobOrder, JobView
from bot.speech.status import StatusView
from bot.speech.texts import say


async def start_job(bot: Bot, order: JobOrder) -> None:
    """Start the Job of an order, unless the order has one already.

    The status comment comes first: from then on the Job finds it, and there is only one.
    """
    latest = await bot.jobs.latest(order.thread)
    served = is_served(latest, delivery=order.delivery, asked_at=order.requested_at)
    if served or next_generation(latest, order) is None:
        return
    await show(bot, order, StatusView(state="queued", requested_by=order.requested_by))
    kind = await asyncio.to_thread(wanted_kind, order)
    job = (await bot.jobs.start(order.model_copy(update={"kind": kind}))).job
    if job.position is not None and job.position > 1:
        await show_status(bot, job)


async def stop_job(bot: Bot, job: JobView, key: str, **values: object) -> None:
    """Stop a live Job and say why; one that was stopped is told again, in case that was missed."""
    await bot.jobs.stop(job.request.id)
    now = await bot.jobs.latest(job.request.order.thread)
    if now is not None:
        why = say(order_language(now.request.order), key, **values) if now.state == "stopped" else ""
        await show_status(bot, now, why=why)
