"""Long work shown as progress, where the client shows that (layer: ``frontends``)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from itertools import count

from lsprotocol import types
from pygls.lsp.server import LanguageServer

SHOWN_AFTER = 0.5
"""Seconds: what is done sooner is nobody's business."""


class Progress:
    """Begins and ends what the client shows."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._numbers = count(1)

    @property
    def is_wanted(self) -> bool:
        """Whether the client shows progress."""
        about = self._server.client_capabilities.window
        return bool(about and about.work_done_progress)

    @contextlib.asynccontextmanager
    async def shown(
        self, title: str, message: str, on_cancel: Callable[[], None] | None = None
    ) -> AsyncIterator[None]:
        """While the block runs. on_cancel: what to do when somebody does not want to wait."""
        if not self.is_wanted:
            yield
            return
        token, progress = f"jitlint-{next(self._numbers)}", self._server.work_done_progress
        await progress.create_async(token)
        begin = types.WorkDoneProgressBegin(title, cancellable=on_cancel is not None, message=message)
        progress.begin(token, begin)
        if on_cancel is not None:
            stop = on_cancel
            progress.tokens[token].add_done_callback(lambda done: stop() if done.cancelled() else None)
        try:
            yield
        finally:
            progress.end(token, types.WorkDoneProgressEnd())
            progress.tokens.pop(token, None)

    async def until(self, done: asyncio.Event, title: str, message: str) -> None:
        """Show it until it is done, if that takes a while."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(done.wait(), SHOWN_AFTER)
            return
        async with self.shown(title, message):
            await done.wait()
