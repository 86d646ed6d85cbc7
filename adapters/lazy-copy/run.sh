#!/bin/sh
# Copy each file that the instruction names over each path that it names and that does not exist yet. The last one wins.
# Argument: the instruction's file.
. "${0%/*}/paths.sh"
instruction=${1:-/hbench/instruction.md}

outputs=$(output_paths "$instruction")
[ -n "$outputs" ] || exit 0

named_paths "$instruction" | while read -r input; do
    # What was written a moment ago is no input.
    [ -f "$input" ] && ! echo "$outputs" | grep -qxF -e "$input" || continue
    echo "$outputs" | while read -r output; do
        mkdir -p "${output%/*}/" && cp "$input" "$output"
    done
done
exit 0
