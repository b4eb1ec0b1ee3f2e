"""`jitlint playground`: serves the page until somebody stops it (layer: ``frontends``)."""

from __future__ import annotations

import contextlib
import sys
import webbrowser

import click

from jitlint.base.config import ConfigError
from jitlint.frontends import console
from jitlint.frontends.console import OK

USUAL = 8787
"""Links that are shared name a port, so that it should be the same everywhere."""


@click.command(short_help="Serve a page on this machine to try code in, with traced values coloured.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"The port of 127.0.0.1; by default {USUAL}, or one that is free if that is taken. 0: any that is free.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser; only print where the page is.")
def playground(port: int | None, no_browser: bool) -> int:
    """Serve a page: paste code or open a notebook, and see what is traced, why, and what JAX will refuse.

    Only this machine reaches it, it needs no network, and the code is analysed, never run. Ctrl-C ends it.
    """
    from jitlint.frontends.playground.look import Looker
    from jitlint.frontends.playground.serve import Playground

    with Looker() as looker:
        try:
            served = Playground(USUAL if port is None else port, looker)
        except OSError as error:
            if port is not None:
                raise ConfigError(f"port {port}: {error.strerror or error}") from error
            served = Playground(0, looker)
        with served:
            console.print_lines([f"The playground is at {served.url} (Ctrl-C ends it)"])
            sys.stdout.flush()
            if not no_browser:
                webbrowser.open(served.url)
            with contextlib.suppress(KeyboardInterrupt):
                served.serve_forever()
    return OK
