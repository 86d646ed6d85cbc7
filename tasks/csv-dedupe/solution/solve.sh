#!/bin/bash
set -euo pipefail

/usr/bin/python3 - <<'PYTHON'
import csv
from pathlib import Path

source = Path("/app/data/customers.csv")
target = Path("/app/out/customers_clean.csv")
target.parent.mkdir(parents=True, exist_ok=True)

with source.open(newline="", encoding="utf-8") as old, target.open("w", newline="", encoding="utf-8") as new:
    reader = csv.DictReader(old)
    writer = csv.DictWriter(new, reader.fieldnames, lineterminator="\n")
    writer.writeheader()
    seen = set()
    for row in reader:
        customer = row["email"].strip().casefold()
        if customer not in seen:
            seen.add(customer)
            writer.writerow(row)
PYTHON
