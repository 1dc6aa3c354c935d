#!/usr/bin/env bash
# Runs the tests and ends with one line: "N passed, N failed". Exit status 0 only if none failed.
#
#   hack/test.sh [--full] [--keep] [STAGE…]      all stages when none is named
#
# Stages, in the order in which they run:
#   build      the dev preset: warnings are errors, ASan and UBSan
#   layers     includes go downwards only; libraries stay in their adapters
#   format     clang-format finds nothing to change
#   docs       links, anchors, and a runbook paragraph for every reason
#   unit       no threads, sockets or clocks
#   contract   one suite each against fake, faulty fake and the real ZooKeeper, API server and Kafka
#   crds       the API server accepts and refuses what it should, with the messages that people see
#   chart      helm lint, server-side dry run, promtool
#   e2e        the executables on the real stack
#   tsan       (only when named) unit tests under ThreadSanitizer
#
# --full runs the large end-to-end tests too (2,000 partitions under kill -9, 1,000 resources) and all simulation seeds;
# without it each run takes another part of the seeds.
# --keep leaves the local stack running. What a failing stage printed is in build/test-logs/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

KEEP=false
FULL=()
STAGES=()
for argument in "$@"; do
  case $argument in
    --keep) KEEP=true ;;
    --full) FULL=(--full) ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    build | layers | format | docs | unit | contract | crds | chart | e2e | tsan) STAGES+=("$argument") ;;
    *) echo "test: unknown argument '$argument'; see hack/test.sh --help" >&2; exit 2 ;;
  esac
done
[ ${#STAGES[@]} -gt 0 ] || STAGES=(build layers format docs unit contract crds chart e2e)

PASSED=0
FAILED=0
LOGS=build/test-logs
mkdir -p "$LOGS"
START=$SECONDS

say() { printf '[%4d s] %s\n' $((SECONDS - START)) "$*"; }
wanted() { printf '%s\n' "${STAGES[@]}" | grep -qx "$1"; }

# count NAME PASSED FAILED
count() {
  PASSED=$((PASSED + $2))
  FAILED=$((FAILED + $3))
  say "$1: $2 passed, $3 failed"
}

# check NAME COMMAND…: one test that is the exit status of a command.
check() {
  local name=$1 log="$LOGS/${1//\//_}.log"
  shift
  if "$@" >"$log" 2>&1; then
    count "$name" 1 0
  else
    tail -n 40 "$log"
    count "$name" 0 1
  fi
}

# gtest EXECUTABLE: its own summary, or one failure when it died without one.
gtest() {
  local name log good bad
  name=$(basename "$1")
  log="$LOGS/$name.log"
  timeout 900 "$1" --gtest_color=no >"$log" 2>&1
  local status=$?
  good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
  bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
  if [ $status -ne 0 ] && [ -z "$bad" ]; then
    bad=1
    tail -n 40 "$log"
  elif [ $status -ne 0 ]; then
    grep -E '^\[  FAILED  \]|Failure$' -A 12 "$log" | head -n 80
  fi
  count "$name" "${good:-0}" "${bad:-0}"
}

# script NAME COMMAND…: its last line is "N passed, N failed".
script() {
  local name=$1 log="$LOGS/${1//\//_}.log" last
  shift
  "$@" 2>&1 | tee "$log" | sed -u 's/^/    /'
  local status=${PIPESTATUS[0]}
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  if [ -z "$last" ]; then
    count "$name" 0 1
  else
    local good=${last%% passed*} bad=${last#*, }
    bad=${bad%% failed*}
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    count "$name" "$good" "$bad"
  fi
}

finish() {
  say "logs are in $LOGS"
  echo "$PASSED passed, $FAILED failed"
  [ "$FAILED" -eq 0 ] || exit 1
  exit 0
}

STACK_WAS_UP=false
hack/stack.sh status >/dev/null 2>&1 && STACK_WAS_UP=true
cleanup() { $KEEP || $STACK_WAS_UP || hack/stack.sh down >/dev/null 2>&1; }
trap cleanup EXIT

need_stack() {
  hack/stack.sh up "$@" || { count "stack" 0 1; finish; }
  eval "$(hack/stack.sh env)"
}

# Simulation: 2,000 seeds, in parts of 40 that change with the hour.
if [ ${#FULL[@]} -gt 0 ]; then
  export KRO_SIM_FIRST_SEED=1 KRO_SIM_SEEDS=2000
else
  export KRO_SIM_FIRST_SEED=$(($(date +%s) / 3600 % 50 * 40 + 1)) KRO_SIM_SEEDS=40
fi

say "dependencies"
hack/deps.sh || { count "dependencies" 0 1; finish; }

if wanted build || wanted unit || wanted contract || wanted chart || wanted e2e; then
  say "build (dev preset)"
  { cmake --preset dev >"$LOGS/configure.log" 2>&1 || { tail -n 30 "$LOGS/configure.log"; false; }; } &&
    cmake --build --preset dev 2>&1 | tee "$LOGS/build.log" |
    awk '/error:|FAILED|warning:/ || ++n % 25 == 0 {print; fflush()}'
  if [ "${PIPESTATUS[0]}" -eq 0 ]; then count build 1 0; else count build 0 1; finish; fi
fi
if wanted layers; then
  check layers python3 hack/check-layers.py
  check layers-self-test python3 hack/check-layers.py --self-test
fi
if wanted format; then
  check format bash -c "git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror"
fi
if wanted docs; then script docs python3 tests/docs/check_links.py; fi
if wanted unit; then
  for executable in build/dev/bin/unit_*; do gtest "$executable"; done
fi
if wanted tsan; then
  cmake --preset tsan >"$LOGS/configure-tsan.log" 2>&1 &&
    cmake --build --preset tsan >"$LOGS/build-tsan.log" 2>&1 || count build-tsan 0 1
  for executable in build/tsan/bin/unit_*; do gtest "$executable"; done
fi
if wanted contract || wanted crds || wanted chart || wanted e2e; then
  say "local stack"
  # The tests run the executables of the dev preset: a fault of memory is a failed test.
  need_stack --no-build --bin "$PWD/build/dev/bin"
fi
if wanted contract; then
  export KRO_TEST_REAL_KUBE=1
  for executable in build/dev/bin/contract_*; do gtest "$executable"; done
fi
if wanted crds; then script crds python3 tests/crds/run.py; fi
if wanted chart && [ -d tests/chart ]; then script chart tests/chart/run.sh; fi
if wanted e2e; then script e2e python3 tests/e2e/run.py "${FULL[@]}"; fi
finish
