#!/bin/sh
# In each git repository, check out every commit other than HEAD, oldest first, so that the newest content wins.
# Arguments: the folders to look below, four levels deep; without any, the work folder and /app.
most=500 # of a long history the newest commits are tried, so that the time limit is not what decides

command -v git >/dev/null 2>&1 || exit 0
[ $# -gt 0 ] || set -- . /app

# Repositories may belong to another user; git takes "any owner will do" only from the user's own configuration.
HOME=$(mktemp -d) && export HOME || exit 0
trap 'rm -rf "$HOME"' EXIT
printf '[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n' >"$HOME/.gitconfig"

every_commit() {
    git rev-list --all --reflog 2>/dev/null
    git fsck --unreachable --no-reflogs --no-progress 2>/dev/null | sed -n 's/^unreachable commit //p'
}

check_out_all() {
    head=$(git rev-parse --verify --quiet HEAD)
    commits=$(every_commit | sort -u | grep -v "^$head\$")
    [ -n "$commits" ] || return 0
    echo "$commits" | git log --no-walk --stdin --format='%ct %H' 2>/dev/null |
        sort -n | tail -n "$most" | while read -r _ commit; do
            git checkout --quiet --force "$commit" -- . </dev/null 2>/dev/null
        done
}

find "$@" -maxdepth 5 -name .git -prune 2>/dev/null | while read -r git_folder; do
    (cd "${git_folder%.git}" 2>/dev/null && pwd -P)
done | sort -u | while read -r repository; do
    (cd "$repository" && check_out_all)
done
exit 0
