# shellcheck shell=bash
# What the scripts share. Sourced by bash 3.2 or newer, so nothing of bash 4.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # the scripts use it
BASE_IMAGE=debian:bookworm-slim
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { echo "hbench: $*" >&2; }

# die WHAT [NEXT STEP...]: one line each
die() {
  echo "hbench: error: $1" >&2
  shift
  for line in "$@"; do echo "  $line" >&2; done
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

on_macos() { [ "$(uname -s)" = Darwin ]; }

can_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# Runs a command whose output matters only when it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ "$status" = 0 ] || tail -n 40 "$log" >&2
  rm -f "$log"
  return "$status"
}

# with_limit SECONDS COMMAND...: macOS has no `timeout`; there the command takes as long as it takes.
with_limit() {
  local limit_s=$1
  shift
  if have timeout; then timeout "$limit_s" "$@"; else "$@"; fi
}

# apt_install WHY PACKAGE...
apt_install() {
  local why=$1
  shift
  have apt-get || die "$why" "Install what Debian calls: $*" "Then run this again."
  can_be_root || die "$why" "Run: sudo apt-get install -y $*" "Then run this again."
  say "$why; installing $* with apt-get"
  quietly as_root apt-get update || say "apt-get update did not reach every source; going on with what it has"
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y "$@" ||
    die "apt-get could not install $*" "Run: sudo apt-get install -y $*" "Then run this again."
}

# A Docker CLI context (Docker Desktop, colima) is not seen by programs that speak to the engine themselves.
use_docker_context() {
  local host
  if [ -n "${DOCKER_HOST:-}" ] || ! have docker; then return; fi
  host=$(docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null) || return 0
  case $host in
    '' | unix:///var/run/docker.sock) ;;
    *) export DOCKER_HOST="$host" ;;
  esac
}

# Everything a run needs; each step is quick when there is nothing to do.
set_up() {
  "$ROOT/script/venv"
  use_docker_context
  "$ROOT/script/engine"
  "$ROOT/script/base-image"
}
