#!/bin/bash
set -euo pipefail

cp "$(dirname "$0")"/stats/* /app/stats/
make -C /app/stats
