"""Talk to the service, with links chosen now, and exit with 0 if it does all it should."""

import json
import re
import secrets
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

HOST, PORT = "127.0.0.1", 8080
TIMEOUT_S = 5.0

BAD_URLS = (
    *("", "ftp://a.example", "http://", "https://", "www.example.org", "see http://a"),
    *("http://a b", "http://a\n", " http://a", "http://a\x7f", "http://\xe9.example"),
    *(7, None, True, ["http://a"]),
)
BAD_BODIES = (
    *(b"", b"no json", b"[]", b'"http://a.example"', b"{}", b'{"URL": "http://a.example"}'),
    *(b'{"url": "http://a\xff"}', b'{"url": "http://a.example"'),
)


class Wrong(Exception):
    """The service does something else than it should."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Wrong(f"Content-Type is {self.headers.get('content-type')!r}")
        return json.loads(self.body)


def ask(method: str, path: str, body: bytes | None = None) -> Answer:
    connection = HTTPConnection(HOST, PORT, timeout=TIMEOUT_S)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, headers, answer.read(1_000_000))
    finally:
        connection.close()


def expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Wrong(f"{what} is {found!r:.200}, should be {wanted!r:.200}")


def new_url() -> str:
    scheme = secrets.choice(["http", "https"])
    return f"{scheme}://{secrets.token_hex(4)}.example/{secrets.token_urlsafe(12)}?a=%20{secrets.token_hex(2)}&b#c"


def post(url: object) -> Answer:
    return ask("POST", "/links", json.dumps({"url": url}).encode())


def added(url: str, status: int = 201) -> str:
    answer = post(url)
    expect(f"the status of POST /links for {url}", answer.status, status)
    found = answer.json()
    code = found.get("code") if isinstance(found, dict) and set(found) == {"code"} else None
    if not isinstance(code, str) or not re.fullmatch("[A-Za-z0-9]{4,12}", code):
        raise Wrong(f"the answer to POST /links is {found!r:.200}")
    return code


def visited(code: str, url: str) -> None:
    answer = ask("GET", f"/{code}")
    expect(f"the status of GET /{code}", answer.status, 302)
    expect("Location", answer.headers.get("location"), url)


def shown(code: str, url: str, visits: int) -> None:
    answer = ask("GET", f"/links/{code}")
    expect(f"the status of GET /links/{code}", answer.status, 200)
    expect(f"the answer to GET /links/{code}", answer.json(), {"url": url, "visits": visits})


def check_links() -> None:
    urls = [new_url() for _ in range(20)]
    codes = [added(url) for url in urls]
    expect("the number of different codes", len(set(codes)), len(urls))
    for url, code in zip(urls, codes, strict=True):
        expect("the code of a URL sent again", added(url, status=200), code)
        shown(code, url, 0)
    visited(codes[3], urls[3])
    visited(codes[3], urls[3])
    shown(codes[3], urls[3], 2)
    shown(codes[4], urls[4], 0)


def check_refusals() -> None:
    for url in BAD_URLS:
        expect(f"the status of POST /links for {url!r}", post(url).status, 400)
    for body in BAD_BODIES:
        expect(f"the status of POST /links with {body!r}", ask("POST", "/links", body).status, 400)
    unknown = secrets.token_hex(5)
    for path in ("/", f"/{unknown}", f"/links/{unknown}"):
        expect(f"the status of GET {path}", ask("GET", path).status, 404)
    expect("the status of DELETE for an unknown code", ask("DELETE", f"/links/{unknown}").status, 404)
    answer = ask("POST", f"/{unknown}", json.dumps({"url": new_url()}).encode())
    expect(f"the status of POST /{unknown}", answer.status, 404)


def check_removal() -> None:
    url = new_url()
    code = added(url)
    visited(code, url)
    answer = ask("DELETE", f"/links/{code}")
    expect("the status of DELETE", (answer.status, answer.body), (204, b""))
    for method, path in (("GET", f"/{code}"), ("GET", f"/links/{code}"), ("DELETE", f"/links/{code}")):
        expect(f"the status of {method} after DELETE", ask(method, path).status, 404)
    shown(added(url), url, 0)


def check_many_clients() -> None:
    url = new_url()
    with ExitStack() as idle:
        for _ in range(3):
            slow = idle.enter_context(socket.create_connection((HOST, PORT), timeout=TIMEOUT_S))
            slow.sendall(b"GET /")
        code = added(url)
        with ThreadPoolExecutor(16) as pool:
            for future in [pool.submit(visited, code, url) for _ in range(160)]:
                future.result()
            same = set(pool.map(lambda _: json.loads(post(url + "/same").body)["code"], range(32)))
        shown(code, url, 160)
        expect("the number of codes of one URL", len(same), 1)


def main() -> int:
    for check in (check_links, check_refusals, check_removal, check_many_clients):
        try:
            check()
        except (Wrong, OSError, HTTPException, ValueError, LookupError, TypeError) as problem:
            print(f"FAIL: {check.__name__}: {type(problem).__name__}: {problem}")
            return 1
        print(f"PASS: {check.__name__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
