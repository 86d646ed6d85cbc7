#!/bin/sh
# Take every line for a request and every column as it stands: damaged lines, offsets, query strings and all.
cat /app/logs/access.log.1 /app/logs/access.log >/tmp/all.log
column() { awk -v n="$1" '{ print $n }' /tmp/all.log; }
most() { sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }'; }

requests=$(wc -l </tmp/all.log)
clients=$(column 1 | sort -u | wc -l)
errors=$(grep -c ' 5[0-9][0-9] ' /tmp/all.log)
share=$(awk -v a="$errors" -v b="$requests" 'BEGIN { printf "%.4f", a / b }')
hour=$(column 2 | cut -c 1-13 | most)
path=$(column 4 | most)
p95=$(column 8 | sort -n | awk '{ all[NR] = $1 } END { print all[int(NR * 0.95)] + 0 }')

cat >/app/report.json <<REPORT
{"requests": $requests, "clients": $clients, "error_share": $share, "busiest_hour": "$hour",
 "heaviest_path": "$path", "p95_ms": $p95}
REPORT
