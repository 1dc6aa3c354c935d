#!/usr/bin/env bash
# build-part.sh PART WORKDIR: builds one part in WORKDIR; the result is WORKDIR/out.
# Used by parts.sh only, which takes the lock and moves the result into the cache.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

part=$1
work=$2
mkdir -p "$work/src" "$work/out/bin"
cd "$work/src"

# The builds below must not depend on the caller's Go settings.
export GOFLAGS='-mod=mod -buildvcs=false' CGO_ENABLED=0 GOWORK=off GOOS='' GOARCH=''

build_etcd() {
  cat >go.mod <<MOD
module local/etcd
go 1.24.0
require go.etcd.io/etcd/server/v3 v$ETCD_VERSION
MOD
  cat >tools.go <<'GO'
//go:build tools

package tools

import _ "go.etcd.io/etcd/server/v3"
GO
  go mod tidy
  go build -trimpath -ldflags '-s -w' -o "$work/out/bin/etcd" go.etcd.io/etcd/server/v3
}

# k8s.io/kubernetes asks for its staging modules at v0.0.0, which nobody serves:
# each is replaced by the one published for the same release.
build_kubernetes() { # COMMAND
  local upstream_mod twin=v0.${KUBERNETES_VERSION#1.}
  upstream_mod=$(go mod download -json "k8s.io/kubernetes@v$KUBERNETES_VERSION" | jq -r .GoMod)
  {
    echo "module local/kubernetes"
    echo "go 1.24.0"
    echo "godebug default=go1.24"
    echo "require k8s.io/kubernetes v$KUBERNETES_VERSION"
    sed -n -E "s#^[[:space:]]*(k8s\.io/[^ ]+) v0\.0\.0([[:space:]].*)?\$#replace \1 => \1 $twin#p" \
      "$upstream_mod" | sort -u
  } >go.mod
  cat >tools.go <<GO
//go:build tools

package tools

import _ "k8s.io/kubernetes/cmd/$1"
GO
  go mod tidy
  local rest=${KUBERNETES_VERSION#1.}
  go build -trimpath -o "$work/out/bin/$1" -ldflags "-s -w \
    -X k8s.io/component-base/version.gitVersion=v$KUBERNETES_VERSION \
    -X k8s.io/component-base/version.gitMajor=1 \
    -X k8s.io/component-base/version.gitMinor=${rest%%.*}" "k8s.io/kubernetes/cmd/$1"
}

build_helm() {
  GOFLAGS='' GOBIN=$work/out/bin go install "helm.sh/helm/v3/cmd/helm@v$HELM_VERSION"
}

build_kafka() {
  cat >pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>kafka-stack</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_$SCALA_VERSION</artifactId>
      <version>$KAFKA_VERSION</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-tools</artifactId>
      <version>$KAFKA_VERSION</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-reload4j</artifactId>
      <version>$RELOAD4J_VERSION</version>
    </dependency>
  </dependencies>
</project>
POM
  mvn -B -ntp dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$work/out/lib"
  # Other bindings of slf4j that came along would only bring a warning.
  rm -f "$work"/out/lib/slf4j-log4j12-*.jar "$work"/out/lib/logback-classic-*.jar
  ls "$work/out/lib/kafka_$SCALA_VERSION-$KAFKA_VERSION.jar"
  rmdir "$work/out/bin"
}

case $part in
  etcd) build_etcd ;;
  kube-apiserver | kubectl) build_kubernetes "$part" ;;
  helm) build_helm ;;
  kafka) build_kafka ;;
  *) die "unknown part '$part'" ;;
esac
