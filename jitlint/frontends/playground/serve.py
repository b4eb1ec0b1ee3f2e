"""The playground's server: the page, and answers about what is pasted into it (layer: ``frontends``).

It listens on 127.0.0.1 alone, answers nobody who calls it by another name, and takes texts only from its own page: another
site that somebody has open can neither read it nor send to it. It never runs what it is sent.
"""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources

from jitlint.base.result import AnalysisError
from jitlint.driver.registry import find_rule
from jitlint.frontends.playground.look import Looker, Pasted
from jitlint.report.explain import page

_MOST = 2_000_000
"""Bytes of a text."""
_KINDS = {
    "index.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "examples.js": "text/javascript; charset=utf-8",
    "text.js": "text/javascript; charset=utf-8",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Playground(ThreadingHTTPServer):
    """Serves the page. port 0: any that is free."""

    daemon_threads = True

    def __init__(self, port: int, looker: Looker) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.looker = looker
        self.busy = threading.Lock()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}/"

    @property
    def names(self) -> set[str]:
        """What callers may call it."""
        return {f"{host}:{self.server_port}" for host in ("127.0.0.1", "localhost")}


class _Handler(BaseHTTPRequestHandler):
    server: Playground
    timeout = 60

    def do_GET(self) -> None:
        """The page and its parts; `/rules/CODE` explains a rule."""
        path = self.path.partition("?")[0].strip("/") or "index.html"
        if not self._is_ours():
            self._say(HTTPStatus.FORBIDDEN, "this page is for this machine only")
        elif path in _KINDS:
            data = (
                resources.files("jitlint.frontends.playground").joinpath("page").joinpath(path).read_bytes()
            )
            self._send(HTTPStatus.OK, _KINDS[path], data)
        elif path.startswith("rules/") and (rule := find_rule(path.removeprefix("rules/"))) is not None:
            self._say(HTTPStatus.OK, "\n".join(page(rule, rule.url, rule.more)))
        else:
            self._say(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        """`/look`: a text, and the answer about it."""
        size = self.headers.get("Content-Length", "")
        # A form of another site cannot send this type, and its scripts would have to ask first.
        is_json = self.headers.get_content_type() == "application/json"
        if not self._is_ours() or not is_json or self.path != "/look":
            self._say(HTTPStatus.FORBIDDEN, "only the page itself may ask")
        elif not size.isdecimal() or int(size) > _MOST:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "this is too much text")
        else:
            self._answer(self.rfile.read(int(size)))

    def _answer(self, body: bytes) -> None:
        try:
            pasted = Pasted.of(json.loads(body))
        except (ValueError, RecursionError) as error:
            self._say(HTTPStatus.BAD_REQUEST, str(error))
            return
        try:
            with self.server.busy:
                answer = self.server.looker.look(pasted)
        except (AnalysisError, OSError) as error:
            answer = {"problem": str(error), "findings": [], "values": []}
        self._send(HTTPStatus.OK, "application/json", json.dumps(answer).encode())

    def _is_ours(self) -> bool:
        """Whether it was called by its own name, from its own page or from none."""
        origin = self.headers.get("Origin")
        mine = {f"http://{name}" for name in self.server.names}
        return self.headers.get("Host") in self.server.names and (origin is None or origin in mine)

    def _say(self, status: HTTPStatus, text: str) -> None:
        self._send(status, "text/plain; charset=utf-8", text.encode())

    def _send(self, status: HTTPStatus, kind: str, data: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: what goes through is nobody's business, and the terminal belongs to its user."""
