"""Fixes that are proved by running the code: `jitlint confirm --fixes` and `jitlint check --fix --confirm` (layer: ``frontends``).

What it does: hands the texts that fixes make to the workers, and keeps the fixes that these have shown to cure. RUNS THE CODE.
What it does not: make fixes, or write files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from jitlint.base.config import ConfigError, Settings
from jitlint.base.result import CheckResult
from jitlint.confirm.engine import ConfirmResult, Options, prove
from jitlint.confirm.planning.plan import Repairs
from jitlint.confirm.verdict import Confirmation, Verdict
from jitlint.fix.engine import Engine, Offer

WORDS = {
    Verdict.CONFIRMED: "proved",
    Verdict.REFUTED: "harmful",
    Verdict.NOT_REACHED: "not-shown",
}
"""What the verdict on a fix is called, where it is not what that on a finding is."""


def needs_fork() -> None:
    """Raises ConfigError where code cannot be run in processes of its own."""
    if os.name != "posix":
        raise ConfigError(
            "running the code needs processes that can be forked, which this system does not have"
        )


def proved(
    paths: Sequence[str],
    settings: Settings,
    options: Options,
    engine: Engine,
    checked: CheckResult,
    offers: Sequence[Offer],
    told: Callable[[Confirmation, int, int], None] | None = None,
) -> ConfirmResult:
    """The verdict on each fix: alone and, where that is not enough for the call to run through, with all others."""
    alone = {number: engine.texts([offer]) for number, offer in enumerate(offers)}
    repairs = Repairs(alone, engine.texts(offers), _without(engine, offers))
    return _asked(paths, settings, options, engine, checked, offers, repairs, told)


def kept(
    paths: Sequence[str],
    settings: Settings,
    options: Options,
    engine: Engine,
    checked: CheckResult,
    offers: Sequence[Offer],
) -> list[Offer]:
    """The fixes that are shown to cure, in the very texts that they make together."""
    found = _shown(offers, proved(paths, settings, options, engine, checked, offers))
    while len(offers) > 1 and found:
        texts = engine.texts(found)
        repairs = Repairs(dict.fromkeys(range(len(found)), texts), texts, _without(engine, found))
        again = _shown(found, _asked(paths, settings, options, engine, checked, found, repairs))
        if again == found:
            break
        found = again
    return found


def _without(engine: Engine, offers: Sequence[Offer]) -> dict[int, dict[str, str]]:
    """What all fixes but one give to its file."""
    found: dict[int, dict[str, str]] = {}
    for number, offer in enumerate(offers) if len(offers) > 1 else ():
        path = offer.finding.path
        found[number] = engine.texts([o for o in offers if o is not offer and o.finding.path == path], path)
    return found


def _asked(
    paths: Sequence[str],
    settings: Settings,
    options: Options,
    engine: Engine,
    checked: CheckResult,
    offers: Sequence[Offer],
    repairs: Repairs,
    told: Callable[[Confirmation, int, int], None] | None = None,
) -> ConfirmResult:
    # The numbers of the findings are their places in the list.
    only = replace(checked, findings=[engine.with_fix(offer) for offer in offers], elsewhere=[])
    return prove(only, paths, settings, options, told, repairs=repairs)


def _shown(offers: Sequence[Offer], result: ConfirmResult) -> list[Offer]:
    by_finding: Mapping[object, Verdict] = {
        replace(each.finding, fix=None): each.verdict for each in result.confirmations
    }
    return [offer for offer in offers if by_finding.get(offer.finding) is Verdict.CONFIRMED]
