"""`jitlint server`: starts the language server, if what it needs is installed (layer: ``frontends``)."""

from __future__ import annotations

import importlib.util

import click

from jitlint.base.config import ConfigError
from jitlint.frontends.console import OK


@click.command(short_help="Run the language server, for editors.")
@click.option("--stdio", is_flag=True, help="Talk over standard input and output (the default).")
@click.option(
    "--tcp", type=click.IntRange(1, 65535), metavar="PORT", help="Wait on this port of 127.0.0.1 instead."
)
def server(stdio: bool, tcp: int | None) -> int:
    """Run the language server: findings while somebody types, what values are, ways to silence.

    Editors start it; `pip install 'jitlint[lsp]'` brings what it needs.
    """
    if stdio and tcp is not None:
        raise click.UsageError("`--stdio` and `--tcp` exclude each other.")
    if importlib.util.find_spec("pygls") is None:
        raise ConfigError("the language server needs pygls: pip install 'jitlint[lsp]'")
    from jitlint.frontends.server.serve import Server

    if tcp is None:
        Server().start_io()
    else:
        Server().start_tcp("127.0.0.1", tcp)
    return OK
