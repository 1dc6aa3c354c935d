#!/usr/bin/env bash
# Checks the chart: lint, values that must be refused, and what a real API server says of what it renders.
# Needs kubectl with $KUBECONFIG of a server that has our CRDs, promtool, and optionally
# $KRO_BIN/kafka-reassignment-operator; $HELM names another helm than that of PATH or of hack/stack.sh. Everything is made in the namespaces chart-tests and chart-tests-watched.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
chart=$root/charts/kafka-reassignment-operator
helm=${HELM:-$(command -v helm || "$root/hack/stack.sh" tool helm)}
ns=chart-tests
watched=chart-tests-watched
user=system:serviceaccount:$ns:rel
work=$(mktemp -d)
passed=0 failed=0

report() { # NAME RC
  if (($2 == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s:\n' "$1"
    cat "$work/out"
  fi
}
check() { # NAME COMMAND...
  local rc=0
  "${@:2}" >"$work/out" 2>&1 || rc=$?
  report "$1" "$rc"
}
refused() { # NAME EXPECTED COMMAND...: must fail and say EXPECTED
  local rc=0
  if "${@:3}" >"$work/out" 2>&1; then
    echo "accepted; should say: $2" >"$work/out" && rc=1
  elif ! grep -qF -- "$2" "$work/out"; then
    echo "(should say: $2)" >>"$work/out" && rc=1
  fi
  report "$1" "$rc"
}
render() { "$helm" template rel "$chart" -n "$ns" --kube-version 1.34.0 "$@"; }
# Without the kinds of the Prometheus operator, which the server need not have.
without_monitors() {
  python3 -c 'import sys, yaml
docs = [d for d in yaml.safe_load_all(sys.stdin) if d and not d["apiVersion"].startswith("monitoring.coreos.com")]
yaml.safe_dump_all(docs, sys.stdout)'
}
server_accepts() { # VALUES...: and has no warning, so that pods keep to the restricted profile
  render "$@" | without_monitors >"$work/all.yaml"
  kubectl apply --dry-run=server -f "$work/all.yaml" && ! kubectl apply --dry-run=server -f "$work/all.yaml" 2>&1 | grep -i warning
}
can() { # yes|no VERB RESOURCE NAMESPACE
  local answer
  answer=$(kubectl auth can-i "$2" "$3" -n "$4" --as "$user" 2>&1) || true
  echo "$2 $3 in $4: $answer, should be $1"
  [[ ${answer##*$'\n'} == "$1" ]]
}

cleanup() {
  kubectl delete --ignore-not-found --wait=false -f "$work/applied.yaml" >/dev/null 2>&1 || true
  kubectl delete kra --all -n "$ns" --wait=false >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

for name in "$ns" "$watched"; do
  kubectl create namespace "$name" >/dev/null 2>&1 || true
  kubectl label --overwrite namespace "$name" pod-security.kubernetes.io/enforce=restricted \
    pod-security.kubernetes.io/warn=restricted >/dev/null
done

check "crds of the chart are crds/" "$root/hack/sync-crds.sh" --check
check "lint, defaults" "$helm" lint --strict "$chart"
check "lint, everything" "$helm" lint --strict "$chart" -f "$here/clusters.yaml"

refused "unknown value" "additional properties 'operatorID' not allowed" render --set operatorID=a
refused "operator id" "operatorId" render --set operatorId=Kube_1
refused "log level" "logLevel" render --set logLevel=loud
refused "cluster without zookeeper" "missing property 'zookeeper'" render --set 'clusters[0].name=blue'
refused "connect without port" "connect" render --set 'clusters[0].name=blue,clusters[0].zookeeper.connect=zk'
refused "controller without brokers" 'clusters "blue": controller.bootstrapServers is needed' \
  render --set 'clusters[0].name=blue,clusters[0].zookeeper.connect=zk:2181'
refused "controller with credentials" "the controller cannot log in to ZooKeeper yet" render -f "$here/clusters.yaml" \
  --set 'clusters[1].controller.enabled=true'
refused "no account" "serviceAccount.name is needed" render --set serviceAccount.create=false

check "server accepts the defaults" server_accepts
check "server accepts everything" server_accepts -f "$here/clusters.yaml"
check "server accepts named namespaces" server_accepts -f "$here/clusters.yaml" --set "watchNamespaces={$watched}"
check "the warning check can fail" bash -c "sed 's/runAsNonRoot: true/runAsNonRoot: false/' '$work/all.yaml' |
  kubectl apply --dry-run=server -f - 2>&1 | grep -q 'would violate PodSecurity'"

named_only() {
  ! render --set "watchNamespaces={$watched}" --set specGuard.enabled=false | grep -E '^kind: (Cluster|Validating)'
}
check "named namespaces need nothing cluster-wide" named_only

operator_reads_config() { # the executable itself refuses a file that it cannot use, before it contacts anything
  render -f "$here/clusters.yaml" --show-only templates/configmap.yaml |
    python3 -c 'import sys, yaml; sys.stdout.write(yaml.safe_load(sys.stdin)["data"]["operator.yaml"])' >"$work/operator.yaml"
  local rc=0
  timeout 3 "$KRO_BIN/kafka-reassignment-operator" --config "$work/operator.yaml" --listen 127.0.0.1:0 \
    --kubeconfig "$KUBECONFIG" || rc=$?
  echo "exit code $rc"
  ((rc == 124 || rc == 0)) # it ran until it was stopped
}
if [[ -x ${KRO_BIN:-}/kafka-reassignment-operator ]]; then
  check "the operator takes the rendered configuration" operator_reads_config
fi

# For real: what the account may do, and that it cannot touch a spec.
render --set "watchNamespaces={$watched}" | without_monitors |
  python3 -c 'import sys, yaml
yaml.safe_dump_all([d for d in yaml.safe_load_all(sys.stdin) if d["kind"] not in ("Deployment", "Service", "ConfigMap")], sys.stdout)' \
    >"$work/applied.yaml"
check "roles, account and guard are applied" kubectl apply -f "$work/applied.yaml"
for verb in get list watch patch; do
  for kind in kafkareassignments kafkareassignmentcancels; do
    check "may $verb $kind" can yes "$verb" "$kind.kafka-reassignment.io" "$watched"
    check "may not $verb $kind elsewhere" can no "$verb" "$kind.kafka-reassignment.io" default
  done
done
for verb in create update delete deletecollection; do
  check "may not $verb" can no "$verb" kafkareassignments.kafka-reassignment.io "$watched"
done
check "may patch status" can yes patch kafkareassignments.kafka-reassignment.io/status "$watched"
check "may create events" can yes create events.events.k8s.io "$watched"
check "may patch events" can yes patch events.events.k8s.io "$watched"
for verb in get create update; do
  check "may $verb leases" can yes "$verb" leases.coordination.k8s.io "$ns"
  check "may not $verb leases elsewhere" can no "$verb" leases.coordination.k8s.io "$watched"
done
check "may get its namespace" can yes get "namespaces/$ns" "$ns"
check "may not get secrets" can no get secrets "$ns"
check "may not get pods" can no get pods "$ns"

kubectl apply -f - >/dev/null <<YAML
apiVersion: kafka-reassignment.io/v1alpha1
kind: KafkaReassignment
metadata: {name: guarded, namespace: $watched}
spec:
  clusterRef: {name: no-such-cluster}
  plan: {partitions: [{topic: t, partition: 0, replicas: [1]}]}
YAML
as_operator() { kubectl --as "$user" -n "$watched" patch kra guarded --type merge -p "$1"; }
guard_works() { # a new policy takes a moment to be in force
  local answer
  for _ in {1..100}; do
    answer=$(as_operator '{"spec":{"suspend":true}}' 2>&1) || true
    [[ $answer != *"may change metadata.finalizers and status only"* ]] || return 0
    kubectl -n "$watched" patch kra guarded --type merge -p '{"spec":{"suspend":false}}' >/dev/null
    sleep 0.2
  done
  echo "the last answer was: $answer"
  return 1
}
check "the guard keeps the operator off the spec" guard_works
check "finalizers pass the guard" as_operator '{"metadata":{"finalizers":["kafka-reassignment.io/operator"]}}'
check "finalizers can be taken away" as_operator '{"metadata":{"finalizers":[]}}'
check "others may edit the spec" kubectl -n "$watched" patch kra guarded --type merge -p '{"spec":{"suspend":true}}'
kubectl -n "$watched" delete kra guarded --wait=false >/dev/null

large_object() {
  python3 -c 'import json
parts = [{"topic": "t%d" % (i % 50), "partition": i, "replicas": [1, 2, 3]} for i in range(20000)]
print(json.dumps({"apiVersion": "kafka-reassignment.io/v1alpha1", "kind": "KafkaReassignment",
  "metadata": {"name": "guarded-large", "namespace": "'"$watched"'"},
  "spec": {"clusterRef": {"name": "no-such-cluster"}, "plan": {"partitions": parts}}}))' >"$work/large.json"
  kubectl create -f "$work/large.json"
  local rc=0
  kubectl --as "$user" -n "$watched" patch kra guarded-large --type merge -o name \
    -p '{"metadata":{"finalizers":["kafka-reassignment.io/operator"]}}' || rc=$?
  kubectl -n "$watched" patch kra guarded-large --type merge -o name -p '{"metadata":{"finalizers":[]}}' || rc=$?
  kubectl -n "$watched" delete kra guarded-large --wait=false
  return "$rc"
}
check "finalizers of the largest object pass the guard" large_object

check "alerts" env HELM="$helm" "$root/tests/alerts/run.sh"

echo "$passed passed, $failed failed"
((failed == 0))
