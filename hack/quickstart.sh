#!/usr/bin/env bash
# From a clean clone to moved partitions and back: builds, starts a real API server, ZooKeeper and Kafka on this
# machine, moves partitions with a manifest, proves it with Kafka's own tool, then cancels a second move.
#
#   hack/quickstart.sh [--keep]     --keep leaves everything running, and says how to use it
#
# The first run builds everything (about 10 minutes on two cores), later ones take about a minute. Exit status 0 only
# if every step did what it says.
set -euo pipefail
cd "$(dirname "$0")/.."

KEEP=false
case ${1:-} in
  --keep) KEEP=true ;;
  -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
  "") ;;
  *) echo "quickstart: unknown argument '$1'; see hack/quickstart.sh --help" >&2; exit 2 ;;
esac

WORK=$(mktemp -d)
WATCHER=
ZKCLI=
DONE=false
# Without its input zkCli ends by itself.
end_watcher() {
  local pid
  for pid in $WATCHER $ZKCLI; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  WATCHER=
  ZKCLI=
}
cleanup() {
  local status=$?
  end_watcher
  if ! $DONE; then
    echo
    echo "quickstart: failed; the logs are in .stack/log (the last lines of operator and controller follow)"
    tail -n 8 .stack/log/operator.log .stack/log/controller.log 2>/dev/null || true
  fi
  rm -rf "$WORK"
  $KEEP || hack/stack.sh down || true
  exit "$status"
}
trap cleanup EXIT

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
kafka() { hack/stack.sh kafka "$@"; }
phase() { kubectl get "$1" "$2" -o jsonpath='{.status.phase}' 2>/dev/null || true; }

# wait_phase KIND NAME SECONDS PHASE…: prints each new state of the resource until it has one of the phases.
wait_phase() {
  local kind=$1 name=$2 end=$((SECONDS + $3)) line last='' header=true now
  shift 3
  while :; do
    line=$(kubectl get "$kind" "$name" --no-headers 2>/dev/null || true)
    if [ "$line" != "$last" ] && [ -n "$line" ]; then
      if $header; then kubectl get "$kind" "$name" | sed 's/^/   /'; else printf '   %s\n' "$line"; fi
      header=false
      last=$line
    fi
    now=$(phase "$kind" "$name")
    for wanted in "$@"; do [ "$now" != "$wanted" ] || return 0; done
    case $now in Failed | PartiallyCancelled) break ;; esac
    [ $SECONDS -lt $end ] || break
    sleep 0.3
  done
  echo "quickstart: $kind/$name is '$now', expected one of: $*" >&2
  kubectl describe "$kind" "$name" >&2 || true
  return 1
}

replicas() { kafka topics --describe --topic orders | sed -n 's/.*Partition: \([0-9]*\).*Replicas: \([0-9,]*\).*/\1=\2/p' | sort -n; }

step "1/7 packages, builds, and the local stack"
hack/deps.sh
hack/stack.sh up
eval "$(hack/stack.sh env)"
for old in kra/move-orders kra/move-orders-back; do kubectl delete "$old" --ignore-not-found >/dev/null; done

step "2/7 a topic with data"
kafka topics --delete --topic orders >/dev/null 2>&1 || true
for _ in $(seq 20); do kafka topics --create --topic orders --replica-assignment 1:2,1:2,1:2,2:1,1:2,2:1 >/dev/null 2>&1 && break; done
kafka producer-perf --topic orders --num-records 30000 --record-size 1000 --throughput -1 | tail -n 1
replicas | sed 's/^/   orders-/'

step "3/7 operator and controller"
hack/stack.sh apps-up
# One zkCli that is asked again and again, to show the znodes that come and go.
mkfifo "$WORK/zkcli-in"
java -Xmx64m -cp "$KRO_KAFKA_LIB/*" org.apache.zookeeper.ZooKeeperMain -server "$KRO_ZOOKEEPER" \
  <"$WORK/zkcli-in" >"$WORK/zkcli" 2>/dev/null &
ZKCLI=$!
(while :; do echo "ls -R /admin"; sleep 0.2; done) >"$WORK/zkcli-in" 2>/dev/null &
WATCHER=$!

step "4/7 kubectl apply -f docs/examples/move-orders.yaml"
kubectl apply -f docs/examples/move-orders.yaml
wait_phase kra move-orders 120 Succeeded
echo "   proven by Kafka's own tool:"
kubectl get kra move-orders -o json | jq -c .spec.plan >"$WORK/plan.json"
kafka reassign --verify --reassignment-json-file "$WORK/plan.json" | tee "$WORK/verify" | sed 's/^/   /'
[ "$(grep -c 'is completed' "$WORK/verify")" -eq 6 ]

step "5/7 a second move, slowed down by Kafka's own throttle"
replicas >"$WORK/before"
for broker in 1 2 3; do
  kafka configs --alter --entity-type brokers --entity-name $broker \
    --add-config leader.replication.throttled.rate=50000,follower.replication.throttled.rate=50000 >/dev/null
done
kafka configs --alter --entity-type topics --entity-name orders \
  --add-config 'leader.replication.throttled.replicas=*,follower.replication.throttled.replicas=*' >/dev/null
kubectl apply -f docs/examples/slow-move.yaml
wait_phase kra move-orders-back 60 Running
kubectl wait kra/move-orders-back --for=jsonpath='{.status.progress.inFlight}'=3 --timeout=60s >/dev/null
kafka reassign --list | sed 's/^/   /'

step "6/7 cancel: kubectl apply -f docs/examples/cancel-all.yaml"
kubectl apply -f docs/examples/cancel-all.yaml
wait_phase krac stop-everything 120 Succeeded
wait_phase kra move-orders-back 60 Cancelled
replicas >"$WORK/after"
if cmp -s "$WORK/before" "$WORK/after"; then
  echo "   every replica list is what it was before, in the old order:"
  sed 's/^/   orders-/' "$WORK/after"
else
  echo "quickstart: the replica lists differ from those before the second move" >&2
  diff "$WORK/before" "$WORK/after" >&2 || true
  exit 1
fi
kubectl get krac | sed 's/^/   /'
kubectl delete -f docs/examples/cancel-all.yaml
for broker in 1 2 3; do
  kafka configs --alter --entity-type brokers --entity-name $broker \
    --delete-config leader.replication.throttled.rate,follower.replication.throttled.rate >/dev/null
done
kafka configs --alter --entity-type topics --entity-name orders \
  --delete-config leader.replication.throttled.replicas,follower.replication.throttled.replicas >/dev/null

step "7/7 what happened"
kubectl get kra | sed 's/^/   /'
echo
echo "   znodes seen on the way:"
end_watcher
grep -oE '^/admin/reassign[^ ]*' "$WORK/zkcli" | sort -u | sed 's/^/   /'
grep -qE '^/admin/reassignments/orders/0' "$WORK/zkcli"
grep -qE '^/admin/reassign_cancel' "$WORK/zkcli"
echo
if $KEEP; then
  cat <<'TEXT'
   All of it is still running. To use it:
     eval "$(hack/stack.sh env)"
     kubectl get kra,krac -o wide;  kubectl describe kra move-orders;  kubectl explain kra.spec
     curl -s "$KRO_OPERATOR_METRICS" | grep ^kafka_reassignment
     hack/stack.sh broker-stop 3      # then move something to broker 3, and look at the REASON column
     hack/stack.sh down               # ends everything
TEXT
else
  cat <<'TEXT'
   What to try next: hack/quickstart.sh --keep leaves all of it running; then edit docs/examples/move-orders.yaml and
   apply it again, stop a broker in the middle, or read docs/ARCHITECTURE.md. hack/test.sh runs the tests.
TEXT
fi
DONE=true
