"""What a client asks for when it starts, beyond what the protocol says (layer: ``frontends``)."""

from __future__ import annotations

from dataclasses import dataclass, replace

_DEBOUNCE = 0.15


@dataclass(frozen=True, slots=True)
class Wishes:
    """``initializationOptions``. pulls: it asks for diagnostics itself. ahead: answer early, with a process beside the server."""

    inlay_hints: bool = False
    all_files: bool = False
    debounce: float = _DEBOUNCE
    shows_pages: bool = True
    code_lens: bool = False
    semantic_tokens: bool = False
    pulls: bool = False
    ahead: bool = True

    @classmethod
    def of(cls, options: object) -> Wishes:
        """Read them; what is not understood is as if it were not there."""
        table = options if isinstance(options, dict) else {}
        asked = cls(
            inlay_hints=table.get("inlayHints") is True,
            shows_pages=table.get("explanations") != "result",
            code_lens=table.get("codeLens") is True,
            semantic_tokens=table.get("semanticTokens") is True,
            pulls=table.get("diagnostics") == "pull",
            ahead=table.get("ahead") is not False,
        )
        return asked.changed(table)

    def changed(self, settings: object) -> Wishes:
        """With what may change while it runs; what is not said stays."""
        table = settings if isinstance(settings, dict) else {}
        delay, files = table.get("debounce"), table.get("diagnosticsFor")
        is_delay = isinstance(delay, (int, float)) and not isinstance(delay, bool) and 0 <= delay <= 10_000
        return replace(
            self,
            debounce=delay / 1000 if is_delay and delay is not None else self.debounce,
            all_files=files == "workspace" if files in ("workspace", "open") else self.all_files,
        )
