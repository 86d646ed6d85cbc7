#!/bin/bash
set -euo pipefail

cp "$(dirname "$0")/envfile.py" /app/envfile.py
