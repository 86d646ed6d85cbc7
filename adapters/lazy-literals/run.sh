#!/bin/sh
# Write what the instruction quotes to each path that it names and that does not exist yet: the contents of its fenced
# code blocks or, without any, its quoted literals ("...", '...' or `...`, paths left out), one a line.
# Argument: the instruction's file.
. "${0%/*}/paths.sh"
instruction=${1:-/hbench/instruction.md}

fenced_blocks() {
    sed -n '/^[[:space:]]*\(```\|~~~\)/,/^[[:space:]]*\(```\|~~~\)/p' "$instruction" |
        grep -v -E '^[[:space:]]*(```|~~~)'
}

quoted_literals() {
    grep -oE "\"[^\"]+\"|\`[^\`]+\`|(^|[[:space:](])'[^']+'" "$instruction" |
        sed -e "s/^[[:space:](]*//" -e 's/^.//' -e 's/.$//' |
        grep -v -E '^/[^[:space:]]*$' | while read -r literal; do
            named_paths "$instruction" | grep -qxF -e "./${literal#./}" || printf '%s\n' "$literal"
        done
}

text=$(fenced_blocks)
[ -n "$text" ] || text=$(quoted_literals)
[ -n "$text" ] || exit 0

output_paths "$instruction" | while read -r output; do
    mkdir -p "${output%/*}/"
    case $output in
    */) printf '%s\n' "$text" >"${output}output.txt" ;;
    *) printf '%s\n' "$text" >"$output" ;;
    esac
done
exit 0
