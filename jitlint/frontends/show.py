"""What would be checked, and how: ``--show-files`` and ``--show-settings`` (layer: ``frontends``)."""

from __future__ import annotations

from jitlint.base.config import Settings
from jitlint.frontends import console
from jitlint.frontends.console import FAILED, OK


def show_settings_of(settings: Settings, paths: tuple[str, ...]) -> int:
    """The configuration that holds, and which JAX it means."""
    from jitlint.driver.project import project_root
    from jitlint.driver.target import target_of
    from jitlint.report.tables import settings_table

    console.print_lines(settings_table(settings))
    target = target_of(project_root(paths or ["."]), settings.jax_version, settings.from_jax_version)
    console.print_lines([f"# JAX: {target.words}"])
    return OK


def show_files_of(paths: tuple[str, ...], settings: Settings) -> int:
    """The files that would be checked."""
    from jitlint.base.result import Statistics
    from jitlint.base.text import display_path
    from jitlint.driver.files import files_of

    found = files_of(paths or ["."], settings)
    console.print_lines(display_path(path) for path in found.files)
    for path, why in found.failures:
        console.complain(f"{display_path(path)}: {why}")
    if not found.failures:
        excluded, hidden = ([*map(display_path, some)] for some in (found.excluded, found.hidden))
        console.warn_if_empty(Statistics(files=len(found.files), excluded=excluded, hidden=hidden), [])
    return FAILED if found.failures else OK
