#!/usr/bin/env bash
# Copies crds/ into the chart (Helm does not follow links well). --check only tells whether they are equal.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
from=$root/crds
to=$root/charts/kafka-reassignment-operator/crds

case ${1:-} in
  --check)
    diff -r "$from" "$to" ||
      { echo "sync-crds: the chart's crds/ differ from crds/; run hack/sync-crds.sh" >&2 && exit 1; }
    ;;
  '')
    mkdir -p "$to"
    rm -f "$to"/*.yaml
    cp "$from"/*.yaml "$to"/
    ;;
  *)
    echo "usage: hack/sync-crds.sh [--check]" >&2
    exit 2
    ;;
esac
