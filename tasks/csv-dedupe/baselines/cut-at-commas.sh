#!/bin/sh
# Take the third comma-separated piece of each line for the address, whatever the quotes say.
mkdir -p /app/out
awk -F, '{ key = tolower($3); gsub(/[ \t]/, "", key) } !(key in seen) { seen[key] = 1; print }' \
    /app/data/customers.csv >/app/out/customers_clean.csv
