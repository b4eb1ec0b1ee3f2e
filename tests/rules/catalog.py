"""What the rule tests share: all rules, and their example programs with the prelude."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass

from jitlint.base.rule import Rule
from jitlint.driver.registry import modules

PRELUDE = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n"
MARK = re.compile(r"# expect: (JIT\d{3})$")

MODULES = {name.rpartition(".")[2]: importlib.import_module(name) for name in modules()}
RULES: list[Rule] = [module.RULE for module in MODULES.values()]


@dataclass(frozen=True, slots=True)
class Example:
    """One example program of a rule: ``kind`` is ``bad`` or ``good``."""

    rule: Rule
    kind: str

    @property
    def name(self) -> str:
        return f"{self.rule.code.lower()}_{self.kind}"

    @property
    def text(self) -> str:
        return PRELUDE + (self.rule.bad if self.kind == "bad" else self.rule.good)

    @property
    def marks(self) -> list[tuple[int, str]]:
        """Line and code of every expected finding."""
        lines = enumerate(self.text.splitlines(), start=1)
        return [(line, match[1]) for line, text in lines if (match := MARK.search(text))]


EXAMPLES = [Example(rule, kind) for rule in RULES for kind in ("bad", "good") if getattr(rule, kind)]
