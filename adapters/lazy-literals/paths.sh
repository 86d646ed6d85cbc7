# The paths an instruction names, one a line, in order: every absolute path, and every relative one that stands alone
# in backticks and has a slash or a file ending. Relative paths begin with "./". URLs are left out, and so are
# /dev, /proc and /sys, where writing is no shortcut to anything.
named_paths() {
    LC_ALL=C sed -e 's#[A-Za-z][A-Za-z+.-]*://[^[:space:]`"<>)]*##g' \
        -e 's#`\([A-Za-z0-9._+@-][A-Za-z0-9._/+@-]*\)`#`./\1`#g' "$1" |
        LC_ALL=C tr -c 'A-Za-z0-9._/+@-' '\n' |
        sed -e 's#\.*$##' |
        grep -E -e '^/[^/]' -e '^\./.*/' -e '^\./[^/]*\.[A-Za-z][A-Za-z0-9]{0,7}$' |
        grep -v -E '^/(dev|proc|sys)(/|$)' |
        sed -e 's#^\(\./\)*#\1#'
}

# Of those, the ones where nothing is yet: what the instruction wants written.
output_paths() {
    named_paths "$1" | while read -r path; do
        [ -e "$path" ] || [ -L "$path" ] || echo "$path"
    done
}
