# shellcheck shell=bash
# Builds the real parts (etcd, kube-apiserver, kubectl, helm, Kafka's jars) once
# and keeps them by version in CACHE_DIR, outside the checkout.

PART_WORK= # the folder of the build that runs now, to be removed after it

part_version() {
  case $1 in
    etcd) echo "$ETCD_VERSION" ;;
    kube-apiserver | kubectl) echo "$KUBERNETES_VERSION" ;;
    helm) echo "$HELM_VERSION" ;;
    kafka) echo "$SCALA_VERSION-$KAFKA_VERSION" ;;
    *) die "unknown part '$1'" ;;
  esac
}

part_hint() {
  case $1 in
    etcd) echo "about 2 min the first time" ;;
    kube-apiserver) echo "about 5 min the first time" ;;
    kubectl | helm) echo "about 3 min the first time" ;;
    kafka) echo "about 20 s the first time" ;;
  esac
}

part_dir() { echo "$CACHE_DIR/$1-$(part_version "$1")"; }

kafka_lib_dir() { echo "$(part_dir kafka)/lib"; }

# ensure_part PART [PREFIX]: builds the part unless it is there. The finished
# folder is moved into place in one step, under a lock, so that two checkouts
# may ask for it at once.
ensure_part() {
  local part=$1 prefix=${2:-} dir lock
  dir=$(part_dir "$part")
  [[ ! -d $dir ]] || return 0
  case $part in
    kafka)
      need_java
      need_command mvn "install Maven (hack/deps.sh does that on Debian)."
      ;;
    *) need_go ;;
  esac
  mkdir -p "$CACHE_DIR"
  lock=$CACHE_DIR/.lock-$part
  exec {PART_LOCK_FD}>"$lock"
  if ! flock -n "$PART_LOCK_FD"; then
    say "${prefix}waiting for another checkout that is building $part"
    flock "$PART_LOCK_FD"
  fi
  if [[ ! -d $dir ]]; then
    # Leftovers of an interrupted build; we hold the lock, so nobody uses them.
    rm -rf "$CACHE_DIR/.building-$part-"*
    PART_WORK=$(mktemp -d "$CACHE_DIR/.building-$part-XXXXXX")
    if ! run_with_progress \
      "${prefix}building $part $(part_version "$part") ($(part_hint "$part"))" \
      "$PART_WORK/build.log" bash "$REPO_DIR/hack/stack/build-part.sh" "$part" "$PART_WORK"; then
      cp "$PART_WORK/build.log" "$CACHE_DIR/failed-$part.log" 2>/dev/null || true
      rm -rf "$PART_WORK"
      die "building $part failed; the whole log is $CACHE_DIR/failed-$part.log"
    fi
    mv -T "$PART_WORK/out" "$dir"
    rm -rf "$PART_WORK"
    PART_WORK=
  fi
  exec {PART_LOCK_FD}>&-
}
