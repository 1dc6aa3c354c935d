#!/usr/bin/env bash
# The local stack: a real Kubernetes API server, ZooKeeper and Kafka brokers as
# plain processes on this machine. See --help and hack/stack/README.md.
set -euo pipefail

HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/stack
# shellcheck source-path=SCRIPTDIR source=stack/lib.sh
source "$HERE/lib.sh"
# shellcheck source-path=SCRIPTDIR source=stack/parts.sh
source "$HERE/parts.sh"
# shellcheck source-path=SCRIPTDIR source=stack/process.sh
source "$HERE/process.sh"
# shellcheck source-path=SCRIPTDIR source=stack/ports.sh
source "$HERE/ports.sh"
# shellcheck source-path=SCRIPTDIR source=stack/kubernetes.sh
source "$HERE/kubernetes.sh"
# shellcheck source-path=SCRIPTDIR source=stack/kafka.sh
source "$HERE/kafka.sh"
# shellcheck source-path=SCRIPTDIR source=stack/build.sh
source "$HERE/build.sh"
# shellcheck source-path=SCRIPTDIR source=stack/apps.sh
source "$HERE/apps.sh"

usage() {
  cat <<'TEXT'
usage: hack/stack.sh VERB

Starts etcd, a real Kubernetes API server, ZooKeeper and Kafka brokers as
processes of this machine, on free ports of 127.0.0.1. Nothing needs a container
engine. The first `up` installs packages (hack/deps.sh) and builds the parts
(about 10 min), later ones take seconds. Two checkouts may run a stack each.

  up [--brokers N] [--with-apps] [--bin DIR] [--no-build]
                  build what is missing, start what does not run, apply crds/.
                  N brokers with the ids 1..N (3 unless said); --with-apps also
                  starts our operator and controller; --bin takes our
                  executables from DIR; --no-build takes those that are there
  status          each part with pid, address and state; exit code 0 only if
                  all of them are healthy
  env             `export NAME=VALUE` lines for: eval "$(hack/stack.sh env)"
  down            end all processes of this stack and remove its data
                  (the logs stay in .stack/log until the next up)

  apps-up, apps-down              start or end our operator and controller
  broker-start N                  start one Kafka broker
  broker-stop N [--kill]          end it (--kill: by SIGKILL)
  PART-start, PART-stop [--kill]  the same for etcd, apiserver, zookeeper,
                                  operator, controller
  restart-PART [--kill]           end and start again; also restart-broker-N

  kafka topics|reassign|configs|producer-perf ARGS...
                  Kafka's own tool, with the bootstrap servers given, as in:
                  hack/stack.sh kafka topics --create --topic t --replication-factor 2
  tool helm       print the path of helm (built when missing); also: kubectl,
                  etcd, kube-apiserver
  --help          this text

`env` exports KUBECONFIG, KRO_ZOOKEEPER (host:port/chroot), KRO_BOOTSTRAP, KRO_BIN
(folder of our executables), KRO_KAFKA_LIB (folder of Kafka's jars),
KRO_OPERATOR_CONFIG and, while they run, KRO_OPERATOR_METRICS and
KRO_CONTROLLER_METRICS (URLs).

Built parts are kept in ${XDG_CACHE_HOME:-~/.cache}/kafka-reassignment-operator;
the stack's own state is in .stack of the checkout.
TEXT
}

check_platform() {
  [[ -r /proc/self/stat ]] || die "the local stack runs on Linux only."
  need_command flock "run hack/deps.sh."
  need_command setsid "run hack/deps.sh."
}

check_up_tools() {
  local name
  need_go
  need_java
  for name in curl openssl jq awk; do
    need_command "$name" "run hack/deps.sh."
  done
}

# All parts that should run, in the order of their start.
wanted_parts() {
  local id
  [[ -f $STATE_DIR/up ]] || return 0
  echo etcd
  echo apiserver
  echo zookeeper
  for ((id = 1; id <= $(broker_count); id++)); do
    echo "broker-$id"
  done
  [[ -f $STATE_DIR/apps ]] && printf 'operator\ncontroller\n'
  return 0
}

health_of() { # PART
  process_alive "$1" || return 1
  case $1 in
    broker-*) health_broker "${1#broker-}" ;;
    operator | controller) health_app "$1" ;;
    *) "health_$1" ;;
  esac
}

start_part() { # PART
  case $1 in
    broker-*) start_broker "${1#broker-}" ;;
    *) "start_$1" ;;
  esac
}

start_missing() { # PART...
  local part
  for part in "$@"; do
    if ! process_alive "$part"; then
      say "  starting $part"
      start_part "$part"
    fi
  done
}

wait_all() { # PART...
  local part
  for part in "$@"; do
    wait_healthy "$part" 90
  done
}

require_part() { # PART
  case $1 in
    etcd | apiserver | zookeeper | operator | controller) ;;
    broker-*)
      if [[ ! ${1#broker-} =~ ^[1-9][0-9]?$ ]] || ((${1#broker-} > $(broker_count))); then
        die "there is no ${1/-/ }; this stack has the brokers 1 to $(broker_count)."
      fi
      ;;
    *) die "unknown part '$1'; see hack/stack.sh --help." ;;
  esac
}

require_up() {
  [[ -f $STATE_DIR/up ]] || die "this checkout has no stack; start one with hack/stack.sh up."
}

# On any failure, a signal included, what this call started is ended.
finish() {
  local rc=$?
  trap '' INT TERM HUP
  trap - EXIT
  stop_progress
  [[ -z $PART_WORK ]] || rm -rf "$PART_WORK"
  if ((rc != 0)) && { [[ -n $STARTING ]] || ((${#STARTED_NOW[@]})); }; then
    say "ending what this call started: ${STARTED_NOW[*]}"
    stop_started_now
  fi
  exit "$rc"
}

guard() {
  lock_stack
  set_traps
}

set_traps() {
  trap finish EXIT
  trap 'say "interrupted"; exit 130' INT
  trap 'say "interrupted"; exit 143' TERM HUP
}

any_alive() {
  local part
  for part in $(wanted_parts); do
    ! process_alive "$part" || return 0
  done
  return 1
}

all_healthy() {
  local part
  for part in $(wanted_parts); do
    health_of "$part" || return 1
  done
}

start_apps() {
  apps_built || die "our executables are not in $(apps_bin_dir); build them, or name their folder with up --bin DIR."
  write_operator_config
  start_missing operator controller
  wait_all operator controller
  touch "$STATE_DIR/apps"
}

verb_up() {
  local brokers='' apps='' bin='' build=1 have begin=$SECONDS parts id
  while (($#)); do
    case $1 in
      --brokers) brokers=${2:-} && shift ;;
      --brokers=*) brokers=${1#*=} ;;
      --with-apps) apps=1 ;;
      --bin) bin=${2:-} && shift ;;
      --bin=*) bin=${1#*=} ;;
      --no-build) build= ;;
      *) die "up does not know '$1'; see hack/stack.sh --help." ;;
    esac
    shift || die "the last option of up needs a value."
  done
  [[ -z $brokers || $brokers =~ ^[1-9][0-9]?$ ]] || die "--brokers needs a number from 1 to 99."
  [[ -z $bin || -d $bin ]] || die "--bin: there is no folder '$bin'."
  check_platform
  ! command -v dpkg-query >/dev/null || "$REPO_DIR/hack/deps.sh"
  check_up_tools
  guard
  if [[ -f $STATE_DIR/up ]]; then
    have=$(broker_count)
    brokers=${brokers:-$have}
    ((brokers >= have)) ||
      die "this stack has $have brokers already; run hack/stack.sh down first to have $brokers."
  else
    rm -rf "$STATE_DIR/log" "$STATE_DIR/data"
  fi
  brokers=${brokers:-3}
  mkdir -p "$STATE_DIR/log" "$STATE_DIR/data"
  any_alive || forget_taken_ports
  if [[ -n $bin ]]; then
    (cd "$bin" && pwd) >"$STATE_DIR/bin-dir"
  elif [[ -n $build ]]; then
    rm -f "$STATE_DIR/bin-dir" # what an earlier --bin said
  fi

  ensure_part etcd "[1/6] "
  ensure_part kube-apiserver "[2/6] "
  command -v kubectl >/dev/null 2>&1 || ensure_part kubectl "[2/6] "
  use_kubectl
  ensure_part kafka "[3/6] "
  if [[ -n $build ]]; then
    build_apps "[4/6] "
  else
    say "[4/6] not building our executables"
  fi

  echo "$brokers" >"$STATE_DIR/brokers"
  touch "$STATE_DIR/up"
  parts=(etcd apiserver zookeeper)
  for ((id = 1; id <= brokers; id++)); do parts+=("broker-$id"); done
  if all_healthy; then
    say "[5/6] already up: etcd, kube-apiserver, ZooKeeper and $brokers Kafka brokers"
  else
    say "[5/6] starting etcd, kube-apiserver, ZooKeeper and $brokers Kafka brokers"
    ensure_kafka_archive
    start_missing etcd zookeeper
    wait_all etcd
    start_missing apiserver
    wait_all zookeeper
    start_missing "${parts[@]:3}"
    wait_all "${parts[@]}"
  fi
  write_operator_config
  say "[6/6] applying crds/"
  apply_crds
  if [[ -n $apps || -f $STATE_DIR/apps ]]; then
    say "      our operator and controller"
    start_apps
  fi
  say "up in $((SECONDS - begin)) s; next: eval \"\$(hack/stack.sh env)\""
}

verb_down() {
  (($# == 0)) || die "down takes no option."
  check_platform
  if [[ ! -d $STATE_DIR ]]; then
    say "this checkout has no stack: nothing to end"
    return 0
  fi
  guard
  local file name names=(controller operator) alive=()
  for file in "$STATE_DIR"/run/broker-*.pid; do
    [[ ! -f $file ]] || names+=("$(basename "$file" .pid)")
  done
  names+=(zookeeper apiserver etcd)
  for name in "${names[@]}"; do
    ! process_alive "$name" || alive+=("$name")
  done
  ((${#alive[@]} == 0)) || say "ending ${alive[*]}"
  # What depends on the others goes first, all of it at once. The others' data
  # goes away with them: no need for a long goodbye.
  for name in "${names[@]}"; do
    case $name in
      zookeeper | apiserver | etcd) ;;
      *) signal_process "$name" TERM ;;
    esac
  done
  for name in "${names[@]}"; do
    case $name in
      zookeeper | apiserver | etcd) stop_process "$name" KILL ;;
      *) stop_process "$name" ;;
    esac
  done
  find "$STATE_DIR" -mindepth 1 -maxdepth 1 ! -name log ! -name lock -exec rm -rf {} +
  say "down: no process of this stack is left"
}

verb_status() {
  local part pid address state rc=0
  if [[ ! -f $STATE_DIR/up ]]; then
    echo "this checkout has no stack; start one with hack/stack.sh up"
    return 1
  fi
  printf '%-11s %-8s %-18s %s\n' PART PID ADDRESS STATE
  for part in $(wanted_parts); do
    address=$(address_of "$part")
    if ! pid=$(process_pid "$part"); then
      pid=- state=stopped rc=1
    elif health_of "$part"; then
      state=healthy
    else
      state=unhealthy rc=1
    fi
    printf '%-11s %-8s %-18s %s\n' "$part" "$pid" "$address" "$state"
  done
  return "$rc"
}

export_line() { # NAME VALUE
  if [[ $2 =~ ^[A-Za-z0-9_./:,@%+=-]+$ ]]; then
    printf 'export %s=%s\n' "$1" "$2"
  else
    printf 'export %s=%q\n' "$1" "$2"
  fi
}

verb_env() {
  require_up
  # shellcheck disable=SC2016 # expanded by the caller's shell
  if kubectl_is_built; then printf 'export PATH=%q:"$PATH"\n' "$(part_dir kubectl)/bin"; fi
  export_line KUBECONFIG "$KUBECONFIG_FILE"
  export_line KRO_ZOOKEEPER "$(zookeeper_connect)"
  export_line KRO_BOOTSTRAP "$(bootstrap_servers)"
  export_line KRO_BIN "$(apps_bin_dir)"
  export_line KRO_KAFKA_LIB "$(kafka_lib_dir)"
  export_line KRO_OPERATOR_CONFIG "$OPERATOR_CONFIG"
  if process_alive operator; then
    export_line KRO_OPERATOR_METRICS "http://$(address_of operator)/metrics"
  fi
  if process_alive controller; then
    export_line KRO_CONTROLLER_METRICS "http://$(address_of controller)/metrics"
  fi
}

verb_apps_up() {
  (($# == 0)) || die "apps-up takes no option."
  require_up
  guard
  start_apps
}

verb_apps_down() {
  (($# == 0)) || die "apps-down takes no option."
  require_up
  guard
  stop_process controller
  stop_process operator
  rm -f "$STATE_DIR/apps"
}

kill_option() { # [--kill]; prints the signal
  case ${1:-} in
    '') echo TERM ;;
    --kill) echo KILL ;;
    *) die "unknown option '$1'; only --kill is known here." ;;
  esac
}

verb_stop() { # PART [--kill]
  local signal
  require_up
  require_part "$1"
  signal=$(kill_option "${@:2}")
  guard
  stop_process "$1" "$signal"
}

verb_start() { # PART
  require_up
  require_part "$1"
  (($# == 1)) || die "starting a part takes no option."
  guard
  [[ $1 != operator ]] || write_operator_config
  start_missing "$1"
  wait_all "$1"
}

verb_restart() { # PART [--kill]
  local signal
  require_up
  require_part "$1"
  signal=$(kill_option "${@:2}")
  guard
  stop_process "$1" "$signal"
  start_missing "$1"
  wait_all "$1"
}

verb_tool() {
  case ${1:-} in
    helm | kubectl | etcd | kube-apiserver) ;;
    *) die "tool needs a name: helm, kubectl, etcd or kube-apiserver." ;;
  esac
  check_platform
  set_traps
  ensure_part "$1"
  echo "$(part_dir "$1")/bin/$1"
}

main() {
  local verb=${1:---help}
  shift || true
  case $verb in
    -h | --help | help) usage ;;
    up | down | status | env | tool) "verb_$verb" "$@" ;;
    apps-up) verb_apps_up "$@" ;;
    apps-down) verb_apps_down "$@" ;;
    broker-start | broker-stop | restart-broker)
      [[ ${1:-} =~ ^[0-9]+$ ]] || die "$verb needs the broker's id."
      case $verb in
        broker-start) verb_start "broker-$1" "${@:2}" ;;
        broker-stop) verb_stop "broker-$1" "${@:2}" ;;
        restart-broker) verb_restart "broker-$1" "${@:2}" ;;
      esac
      ;;
    restart-*) verb_restart "${verb#restart-}" "$@" ;;
    *-start) verb_start "${verb%-start}" "$@" ;;
    *-stop) verb_stop "${verb%-stop}" "$@" ;;
    kafka)
      require_up
      (($#)) || die "kafka needs a tool: topics, reassign, configs or producer-perf."
      run_kafka_tool "$@"
      ;;
    *) die "unknown verb '$verb'; see hack/stack.sh --help." ;;
  esac
}

main "$@"
