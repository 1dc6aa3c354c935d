#!/usr/bin/env bash
# Measures the memory of the idle release operator with 0, 1,000 and 10,000 finished resources of 20 partitions each,
# on the running local stack (hack/stack.sh up). Uses chroots and namespaces of its own; the namespaces stay with
# KEEP=1, so that the next run need not fill them again. Usage: tests/bench/memory.sh [COUNT...]
# BIN=FOLDER takes the operator from there; SETTLE=SECONDS is how long it is left alone before it is measured.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/bench
settle=${SETTLE:-30}
counts=("$@")
((${#counts[@]})) || counts=(0 1000 10000)

eval "$("$root/hack/stack.sh" env)"
if [[ -z ${BIN:-} ]]; then
  cmake --preset release -S "$root" -B "$build" -DKRO_BENCH=ON >/dev/null
  cmake --build "$build" --target kafka-reassignment-operator -j"${JOBS:-$(nproc)}" >/dev/null
  BIN=$build/bin
fi

work=$(mktemp -d)
connect=${KRO_ZOOKEEPER%%/*}
proxy_pid='' operator_pid=''
zk() {
  java -cp "$KRO_KAFKA_LIB/*" org.apache.zookeeper.ZooKeeperMain -server "$connect" "$@" >/dev/null 2>&1
}
stop() { # PID
  [[ -n $1 ]] || return 0
  kill "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}
cleanup() {
  local count
  stop "$operator_pid"
  stop "$proxy_pid"
  for count in "${counts[@]}"; do
    zk deleteall "/bench-memory-$count" || true
    [[ -n ${KEEP:-} ]] || kubectl delete namespace "bench-memory-$count" --wait=false >/dev/null 2>&1 || true
  done
  rm -rf "$work"
}
trap cleanup EXIT

kubectl proxy --port=0 >"$work/proxy.log" 2>&1 &
proxy_pid=$!
for _ in $(seq 50); do
  grep -q 'Starting to serve' "$work/proxy.log" && break
  sleep 0.1
done
port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' "$work/proxy.log")

printf 'load average %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
printf '%9s %10s %10s %10s %10s   kB, %s s after the lists\n' finished VmRSS RssAnon RssFile VmHWM "$settle"
for count in "${counts[@]}"; do
  ns=bench-memory-$count
  kubectl get namespace "$ns" >/dev/null 2>&1 || kubectl create namespace "$ns" >/dev/null
  have=$(kubectl get kra -n "$ns" --no-headers 2>/dev/null | grep -c Succeeded || true)
  ((have == count)) || python3 "$root/tests/bench/make_finished.py" "$port" "$ns" "$count" bench
  zk create "/$ns" "" || true
  cat >"$work/operator.yaml" <<YAML
operatorId: bench-memory
clusters:
  - name: bench
    zookeeper: {connect: "$connect", chroot: /$ns}
    allowedNamespaces: [$ns]
    allowedTopics: ["*"]
watchNamespaces: [$ns]
YAML
  "$BIN/kafka-reassignment-operator" --config "$work/operator.yaml" --kubeconfig "$KUBECONFIG" \
    --listen 127.0.0.1:0 2>"$work/operator.log" &
  operator_pid=$!
  for _ in $(seq 300); do
    grep -q '"attached to the tree"' "$work/operator.log" && break
    kill -0 "$operator_pid" || { cat "$work/operator.log" >&2; exit 1; }
    sleep 0.2
  done
  sleep "$settle"
  awk -v n="$count" '{v[$1] = $2} END {
    printf "%9d %10d %10d %10d %10d\n", n, v["VmRSS:"], v["RssAnon:"], v["RssFile:"], v["VmHWM:"]}' \
    "/proc/$operator_pid/status"
  [[ -z ${SMAPS:-} ]] || cp "/proc/$operator_pid/smaps" "$SMAPS-$count"
  stop "$operator_pid"
  operator_pid=''
done
