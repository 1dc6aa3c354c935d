# shellcheck shell=bash
# Builds this project's own executables.

APPS=(kafka-reassignment-operator kafka-reassignment-controller)

apps_bin_dir() {
  cat "$STATE_DIR/bin-dir" 2>/dev/null || echo "$REPO_DIR/build/release/bin"
}

apps_built() {
  local app
  for app in "${APPS[@]}"; do
    [[ -x $(apps_bin_dir)/$app ]] || return 1
  done
}

build_apps() { # PREFIX
  local prefix=$1 log=$STATE_DIR/log/build.log
  if [[ -f $STATE_DIR/bin-dir ]]; then
    say "${prefix}using the executables in $(apps_bin_dir)"
    return 0
  fi
  if [[ ! -f $REPO_DIR/CMakePresets.json ]]; then
    say "${prefix}no CMakePresets.json: no executables to build"
    return 0
  fi
  need_command cmake "run hack/deps.sh."
  # shellcheck disable=SC2016 # expanded by the inner shell
  run_with_progress "${prefix}building the release executables" "$log" bash -c \
    'cd "$1" && cmake --preset release && cmake --build --preset release' - "$REPO_DIR" ||
    die "the release build failed; the whole log is $log."
}
