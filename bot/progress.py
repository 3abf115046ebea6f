"""Showing a Run to whoever watches: live on a terminal, plain lines otherwise."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from pipelines.run import Progress


class Display(Protocol):
    """Something that shows progress."""

    def show(self, progress: Progress) -> None:
        """Show what the Run does now."""
        ...

    def downloaded(self, done: int, total: int) -> None:
        """Show how far the weights are fetched, in bytes."""
        ...


class PlainDisplay:
    """One line per step; one per tenth of a download."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()
        self._tenth = -1

    def show(self, progress: Progress) -> None:
        """Print a line."""
        seconds = time.monotonic() - self._started
        self._print(f"[{seconds:6.1f}s] {progress.stage}: {progress.detail}")

    def downloaded(self, done: int, total: int) -> None:
        """Print a line at each tenth."""
        tenth = done * 10 // max(total, 1)
        if tenth != self._tenth:
            self._tenth = tenth
            self._print(f"fetching the model: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class LiveDisplay:
    """A spinner with the present step, elapsed time and tokens; finished decisions scroll above it."""

    def __init__(self, console: Console, live: Live) -> None:
        self._console = console
        self._live = live
        self._started = time.monotonic()
        self._last = ""

    def show(self, progress: Progress) -> None:
        """Replace the present step; the earlier one stays as a line."""
        line = f"{progress.stage}: {progress.detail}"
        if self._last and self._last != line:
            self._console.print(f"  {self._last}", markup=False, highlight=False, style="dim")
        self._last = line
        self._spin(lambda: f"{line}   {time.monotonic() - self._started:.0f} s, {progress.tokens} tokens")

    def downloaded(self, done: int, total: int) -> None:
        """Show the share that is fetched."""
        self._spin(lambda: f"fetching the model: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    def _spin(self, text: Callable[[], str]) -> None:
        self._live.update(_Ticking(text))


class _Ticking:
    """A spinner whose text is made anew at each refresh, so that the seconds run."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._spinner = Spinner("dots")

    def __rich__(self) -> Spinner:
        self._spinner.update(text=Text(f" {self._text()}"))
        return self._spinner


@contextmanager
def open_display(console: Console) -> Iterator[Display]:
    """A live display on a terminal, plain lines elsewhere."""
    if console.is_terminal:
        with Live(console=console, refresh_per_second=8, transient=True) as live:
            yield LiveDisplay(console, live)
    else:
        yield PlainDisplay(console)
