#!/usr/bin/env bash
# Installs what building and testing this project needs, on Debian or Ubuntu.
# Safe to run again; quick when nothing is missing.
set -euo pipefail

die() {
  printf 'deps: error: %s\n' "$*" >&2
  exit 1
}

PACKAGES=(
  g++ cmake ninja-build ccache pkg-config clang-format
  python3 python3-yaml jq openssl curl git
  libcpprest-dev libzookeeper-mt-dev prometheus-cpp-dev nlohmann-json3-dev
  libgtest-dev libgmock-dev libexpected-dev libspdlog-dev libcli11-dev
  libyaml-cpp-dev libcpp-httplib-dev libssl-dev libboost-dev libboost-system-dev
  prometheus # for promtool
)
command -v java >/dev/null 2>&1 || PACKAGES+=(default-jdk-headless)
command -v mvn >/dev/null 2>&1 || PACKAGES+=(maven)

# Go is not taken from the distribution: that one may be too old for Kubernetes.
check_go() {
  local have
  have=$(cd / && go env GOVERSION 2>/dev/null) || have=none
  if [[ ! $have =~ ^go([0-9]+)\.([0-9]+) ]] ||
    ((BASH_REMATCH[1] < 1 || (BASH_REMATCH[1] == 1 && BASH_REMATCH[2] < 24))); then
    die "Go 1.24 or newer is needed (found: ${have#go}); install it from your distribution's backports or from go.dev, put it on PATH and run this again."
  fi
}

missing_packages() {
  local package
  for package in "${PACKAGES[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

main() {
  local as_root=() missing=()
  command -v apt-get >/dev/null 2>&1 ||
    die "this is no Debian or Ubuntu (no apt-get); install the packages named in hack/deps.sh by hand."
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]})); then
    if ((EUID != 0)); then
      command -v sudo >/dev/null 2>&1 ||
        die "packages are missing (${missing[*]}) and there is no sudo; run this as root."
      as_root=(sudo)
    fi
    printf 'deps: installing %s\n' "${missing[*]}"
    "${as_root[@]}" apt-get update -qq ||
      die "apt-get update failed; check the network and /etc/apt/sources.list."
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
      --no-install-recommends "${missing[@]}" >/dev/null ||
      die "apt-get could not install ${missing[*]}; its messages are above."
  fi
  check_go
  # kubectl is built from Kubernetes' own module when the machine has none.
  command -v kubectl >/dev/null 2>&1 ||
    printf 'deps: kubectl at %s\n' "$("$(dirname -- "${BASH_SOURCE[0]}")/stack.sh" tool kubectl)"
  printf 'deps: all there\n'
}

main "$@"
