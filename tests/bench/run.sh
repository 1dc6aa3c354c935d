#!/usr/bin/env bash
# Measures apply → request znode of the release operator against the bare path, and apply → first status, on the running
# local stack (hack/stack.sh up). Uses chroots and namespaces of its own and removes them.
# Usage: tests/bench/run.sh [SAMPLES]
# Builds build/bench with JOBS jobs; BIN=FOLDER takes the executables from there instead.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/bench
samples=${1:-200}

eval "$("$root/hack/stack.sh" env)"
if [[ -z ${BIN:-} ]]; then
  cmake --preset release -S "$root" -B "$build" -DKRO_BENCH=ON >/dev/null
  cmake --build "$build" --target kafka-reassignment-operator bench_apply_to_znode -j"${JOBS:-$(nproc)}"
  BIN=$build/bin
fi

work=$(mktemp -d)
connect=${KRO_ZOOKEEPER%%/*}
id=bench-$$
zk() { # a chroot must exist before a session can live in it
  java -cp "$KRO_KAFKA_LIB/*" org.apache.zookeeper.ZooKeeperMain -server "$connect" "$@" >/dev/null 2>&1
}
operator_pid=
cleanup() {
  if [[ -n $operator_pid ]]; then kill "$operator_pid" 2>/dev/null || true; wait "$operator_pid" 2>/dev/null || true; fi
  kubectl delete kra --all -n "$id-op" --wait=false >/dev/null 2>&1 || true
  kubectl delete kra --all -n "$id-bare" --wait=false >/dev/null 2>&1 || true
  kubectl delete namespace "$id-op" "$id-bare" --wait=false >/dev/null 2>&1 || true
  zk deleteall "/$id-op" || true
  zk deleteall "/$id-bare" || true
  rm -rf "$work"
}
trap cleanup EXIT

kubectl create namespace "$id-op" >/dev/null
kubectl create namespace "$id-bare" >/dev/null
zk create "/$id-op" ""
zk create "/$id-bare" ""
cat >"$work/operator.yaml" <<YAML
operatorId: $id
clusters:
  - name: bench
    zookeeper: {connect: "$connect", chroot: /$id-op}
    allowedNamespaces: [$id-op]
    allowedTopics: ["*"]
watchNamespaces: [$id-op]
YAML
"$BIN/kafka-reassignment-operator" --config "$work/operator.yaml" --kubeconfig "$KUBECONFIG" \
  --listen 127.0.0.1:0 2>"$work/operator.log" &
operator_pid=$!
for _ in $(seq 100); do
  grep -q '"attached to the tree"' "$work/operator.log" && break
  kill -0 "$operator_pid" || { cat "$work/operator.log" >&2; exit 1; }
  sleep 0.2
done
printf 'load average %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
"$BIN/bench_apply_to_znode" "$KUBECONFIG" "$connect" "/$id-bare" "/$id-op" "$id-bare" "$id-op" bench "$samples"
awk '/VmRSS|VmHWM/ {print "  operator " $1 " " $2 " kB"}' "/proc/$operator_pid/status"
