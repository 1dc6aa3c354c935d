# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the files that source this one
# Names, versions and small helpers that every part of the local stack uses.

KUBERNETES_VERSION=1.34.4
ETCD_VERSION=3.6.16
KAFKA_VERSION=3.9.1
SCALA_VERSION=2.13
RELOAD4J_VERSION=1.7.36
HELM_VERSION=3.19.2

REPO_DIR=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
STATE_DIR=$REPO_DIR/.stack
CACHE_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/kafka-reassignment-operator
STACK_HOST=127.0.0.1

say() { printf '%s\n' "$*" >&2; }

die() {
  printf 'stack: error: %s\n' "$*" >&2
  exit 1
}

need_command() { # NAME WHAT-TO-DO
  command -v "$1" >/dev/null 2>&1 || die "$1 was not found; $2"
}

need_go() {
  need_command go "install Go 1.24 or newer and put it on PATH."
  local have
  have=$(cd / && go env GOVERSION 2>/dev/null) || die "go does not run; install Go 1.24 or newer."
  have=${have#go}
  if [[ ! $have =~ ^([0-9]+)\.([0-9]+) ]] ||
    ((BASH_REMATCH[1] < 1 || (BASH_REMATCH[1] == 1 && BASH_REMATCH[2] < 24))); then
    die "Go 1.24 or newer is needed, but $(command -v go) is Go ${have:-unknown}; install a newer Go."
  fi
}

need_java() {
  need_command java "install a Java runtime 17 or newer (hack/deps.sh does that on Debian)."
  local have
  have=$(java -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java\.specification\.version = *//p')
  if [[ ! $have =~ ^[0-9]+$ ]] || ((have < 17)); then
    die "Java 17 or newer is needed, but $(command -v java) is Java ${have:-unknown}; install a newer Java."
  fi
}

PROGRESS_PID= # set while a long command runs

stop_progress() {
  [[ -n $PROGRESS_PID ]] || return 0
  kill -s TERM -- "-$!" 2>/dev/null || true
  wait "$!" 2>/dev/null || true
  PROGRESS_PID=
}

# Runs a long command with its output in a log; tells every ten seconds
# (every second on a terminal) how long it has taken.
run_with_progress() { # LABEL LOG COMMAND...
  local label=$1 log=$2 start=$SECONDS tell=10 pid rc=0 last=0 now
  shift 2
  say "$label"
  # Own session, so that an interrupted call can end the whole family.
  PROGRESS_PID=starting
  setsid "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  PROGRESS_PID=$pid
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.5
    now=$((SECONDS - start))
    if [[ -t 2 ]]; then
      ((now == last)) || printf '\r%s ... %d s' "$label" "$now" >&2
      last=$now
    elif ((now - last >= tell)); then
      say "$label ... $now s"
      last=$now
    fi
  done
  wait "$pid" || rc=$?
  PROGRESS_PID=
  [[ ! -t 2 ]] || printf '\n' >&2
  if ((rc != 0)); then
    tail -n 20 "$log" >&2 || true
    return "$rc"
  fi
  say "$label: done in $((SECONDS - start)) s"
}
