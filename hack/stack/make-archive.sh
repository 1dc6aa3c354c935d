#!/usr/bin/env bash
# Makes the archive of classes that Kafka loads, which halves its start: a broker
# run that writes the archive when it ends. Used by kafka.sh.
set -euo pipefail

HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$HERE/lib.sh"
STATE_DIR=$(mktemp -d "$CACHE_DIR/.building-classes-XXXXXX")
# shellcheck source-path=SCRIPTDIR source=parts.sh
source "$HERE/parts.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$HERE/process.sh"
# shellcheck source-path=SCRIPTDIR source=ports.sh
source "$HERE/ports.sh"
# shellcheck source-path=SCRIPTDIR source=kafka.sh
source "$HERE/kafka.sh"

health_of() {
  case $1 in
    zookeeper) health_zookeeper ;;
    *) health_broker "${1#broker-}" ;;
  esac
}

finish() {
  local rc=$?
  trap - EXIT
  stop_started_now
  rm -rf "$STATE_DIR"
  exit "$rc"
}
lock_stack
trap finish EXIT
trap 'exit 143' INT TERM

echo 1 >"$STATE_DIR/brokers"
start_zookeeper
wait_healthy zookeeper 60
BROKER_JAVA_FLAG=-XX:ArchiveClassesAtExit=$STATE_DIR/classes.jsa
start_broker 1
wait_healthy broker-1 120
stop_process broker-1
if [[ ! -f $STATE_DIR/classes.jsa ]]; then
  cat "$(log_file broker-1)"
  die "the broker wrote no archive."
fi
mv "$STATE_DIR/classes.jsa" "$(kafka_archive)"
