#!/usr/bin/env bash
# Renders the alerts from the chart and runs promtool on them. Needs promtool; $HELM names another helm than
# that of PATH or of hack/stack.sh.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
helm=${HELM:-$(command -v helm || "$root/hack/stack.sh" tool helm)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$helm" template test "$root/charts/kafka-reassignment-operator" --kube-version 1.34.0 \
  --set prometheusRule.enabled=true --set prometheusRule.runbookBase=https://docs.test/runbook.md \
  --show-only templates/prometheusrule.yaml |
  python3 -c 'import sys, yaml; yaml.safe_dump(yaml.safe_load(sys.stdin)["spec"], sys.stdout)' >"$work/rules.yaml"
cp "$here"/*_test.yaml "$work/"

passed=0 failed=0
run() { # NAME COMMAND...
  if "${@:2}" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s:\n' "$1"
    cat "$work/out"
  fi
}
run "promtool check rules" promtool check rules "$work/rules.yaml"
for test in "$work"/*_test.yaml; do
  run "$(basename "$test")" promtool test rules "$test"
done
echo "$passed passed, $failed failed"
((failed == 0))
