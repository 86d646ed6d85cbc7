#!/bin/bash
set -euo pipefail

/usr/bin/python3 - <<'PYTHON'
import json
import math
import re
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

LINE = re.compile(r'(\S+) (\S+) "(GET|POST|HEAD) (\S+) HTTP/[\d.]+" (\d{3}) (\d+|-) (\d+)')

requests = []
for name in ("access.log.1", "access.log"):
    for line in Path("/app/logs", name).read_text().split("\n"):
        if whole := LINE.fullmatch(line):
            requests.append(whole.groups())

hours, sent = Counter(), Counter()
for client, time, method, target, status, size, ms in requests:
    hours[datetime.fromisoformat(time).astimezone(timezone.utc).strftime("%Y-%m-%dT%H")] += 1
    sent[target.partition("?")[0]] += 0 if size == "-" else int(size)
errors = sum(status.startswith("5") for *_, status, _, _ in requests)
took = sorted(int(ms) for _, _, method, _, status, _, ms in requests if (method, status) == ("GET", "200"))

report = {
    "requests": len(requests),
    "clients": len({client for client, *_ in requests}),
    "error_share": round(errors / len(requests), 4),
    "busiest_hour": hours.most_common(1)[0][0],
    "heaviest_path": sent.most_common(1)[0][0],
    "p95_ms": took[math.ceil(0.95 * len(took)) - 1],
}
Path("/app/report.json").write_text(json.dumps(report, indent=2) + "\n")
PYTHON
