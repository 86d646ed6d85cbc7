#!/bin/bash
set -euo pipefail

cp "$(dirname "$0")/server.py" /app/server.py
# A session of its own and no open file of this shell's, so that it outlives the shell.
setsid /usr/bin/python3 /app/server.py </dev/null >/app/server.log 2>&1 &

for _ in $(seq 100); do
    if (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null; then
        exit 0
    fi
    sleep 0.1
done
echo "the service does not listen; its log:" >&2
cat /app/server.log >&2
exit 1
