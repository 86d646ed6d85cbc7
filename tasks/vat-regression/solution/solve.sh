#!/bin/bash
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# Bisect in a clone, so that nothing of it is left in the repository. Exit status 125: this version cannot be judged.
git clone --quiet /app/shop /tmp/bisect
cd /tmp/bisect
git bisect start HEAD "$(git rev-list --max-parents=0 HEAD)"
git bisect run sh -c '
    printed=$(/usr/bin/python3 -B -m shop /app/orders/2041.json 2>/dev/null) || exit 125
    case $printed in *" vat 4.18 "*) exit 0 ;; *) exit 1 ;; esac'
git rev-parse refs/bisect/bad >/app/first-bad.txt

cd /app/shop
git apply "$here/vat-per-rate.patch"
rm -rf /tmp/bisect
