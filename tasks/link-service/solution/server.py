"""Short links in memory, on 127.0.0.1:8080."""

import json
import re
import secrets
import string
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

ALPHABET = string.ascii_letters + string.digits


@dataclass
class Link:
    url: str
    visits: int = 0


class Links:
    """All links; each method is one step that no other thread interrupts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._links: dict[str, Link] = {}
        self._codes: dict[str, str] = {}

    def add(self, url: str) -> tuple[str, bool]:
        """The URL's code, and whether it is new."""
        with self._lock:
            if url in self._codes:
                return self._codes[url], False
            code = "".join(secrets.choice(ALPHABET) for _ in range(8))
            self._links[code] = Link(url)
            self._codes[url] = code
            return code, True

    def visit(self, code: str) -> str | None:
        with self._lock:
            link = self._links.get(code)
            if link is None:
                return None
            link.visits += 1
            return link.url

    def show(self, code: str) -> dict[str, object] | None:
        with self._lock:
            link = self._links.get(code)
            return None if link is None else {"url": link.url, "visits": link.visits}

    def remove(self, code: str) -> bool:
        with self._lock:
            link = self._links.pop(code, None)
            if link is not None:
                del self._codes[link.url]
            return link is not None


LINKS = Links()


def wanted_url(body: bytes) -> str | None:
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    url = found.get("url") if isinstance(found, dict) else None
    return url if isinstance(url, str) and re.fullmatch("https?://[!-~]+", url) else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/links":
            return self.answer(404)
        url = wanted_url(body)
        if url is None:
            return self.answer(400)
        code, new = LINKS.add(url)
        return self.answer(201 if new else 200, {"code": code})

    def do_GET(self) -> None:
        if self.path.startswith("/links/"):
            shown = LINKS.show(self.path.removeprefix("/links/"))
            return self.answer(404) if shown is None else self.answer(200, shown)
        url = LINKS.visit(self.path.removeprefix("/"))
        return self.answer(404) if url is None else self.answer(302, location=url)

    def do_DELETE(self) -> None:
        found = self.path.startswith("/links/") and LINKS.remove(self.path.removeprefix("/links/"))
        self.answer(204 if found else 404)

    def answer(self, status: int, content: dict[str, object] | None = None, location: str | None = None) -> None:
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        if content is not None:
            self.send_header("Content-Type", "application/json")
        if location is not None:
            self.send_header("Location", location)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128


if __name__ == "__main__":
    Server(("127.0.0.1", 8080), Handler).serve_forever()
