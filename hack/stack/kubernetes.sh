# shellcheck shell=bash
# etcd and the Kubernetes API server, with certificates of our own.

PKI_DIR=$STATE_DIR/pki
KUBECONFIG_FILE=$STATE_DIR/kubeconfig

# Puts a kubectl on PATH: the machine's, else one built from Kubernetes' module.
use_kubectl() {
  command -v kubectl >/dev/null 2>&1 && return 0
  PATH=$(part_dir kubectl)/bin:$PATH
  export PATH
}

kubectl_is_built() {
  local built
  built=$(part_dir kubectl)/bin/kubectl
  [[ -x $built && $(command -v kubectl || echo "$built") == "$built" ]]
}

stack_kubectl() {
  kubectl --kubeconfig "$KUBECONFIG_FILE" "$@"
}

make_pki() {
  [[ ! -f $PKI_DIR/done ]] || return 0
  rm -rf "$PKI_DIR"
  mkdir -p "$PKI_DIR"
  local token
  token=$(openssl rand -hex 24)
  (
    cd "$PKI_DIR"
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=local-stack-ca \
      -keyout ca.key -out ca.crt
    openssl req -newkey rsa:2048 -nodes -subj /CN=kube-apiserver -keyout server.key -out server.csr
    printf '%s\n' "subjectAltName=IP:$STACK_HOST,DNS:localhost,DNS:kubernetes.default.svc" \
      extendedKeyUsage=serverAuth >server.ext
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 \
      -extfile server.ext -out server.crt
    openssl genrsa -out sa.key 2048
    openssl rsa -in sa.key -pubout -out sa.pub
  ) >"$STATE_DIR/log/pki.log" 2>&1 || {
    tail -n 15 "$STATE_DIR/log/pki.log" >&2
    die "openssl could not make the certificates; see $STATE_DIR/log/pki.log."
  }
  printf '%s,admin,admin-uid,"system:masters"\n' "$token" >"$PKI_DIR/tokens.csv"
  printf '%s' "$token" >"$PKI_DIR/token"
  touch "$PKI_DIR/done"
}

write_kubeconfig() {
  cat >"$KUBECONFIG_FILE" <<YAML
apiVersion: v1
kind: Config
clusters:
  - name: local
    cluster:
      server: https://$(address_of apiserver)
      certificate-authority-data: $(base64 -w0 <"$PKI_DIR/ca.crt")
users:
  - name: admin
    user:
      token: $(cat "$PKI_DIR/token")
contexts:
  - name: local
    context:
      cluster: local
      user: admin
      namespace: default
current-context: local
YAML
}

start_etcd() {
  local client peer
  client=http://$STACK_HOST:$(pick_port etcd)
  peer=http://$STACK_HOST:$(pick_port etcd-peer)
  # Without fsync: this data lives no longer than the stack.
  start_process etcd "$(part_dir etcd)/bin/etcd" --data-dir "$STATE_DIR/data/etcd" \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
    --initial-cluster "default=$peer" --unsafe-no-fsync --log-level warn
}

start_apiserver() {
  pick_port apiserver >/dev/null
  make_pki
  write_kubeconfig
  start_process apiserver "$(part_dir kube-apiserver)/bin/kube-apiserver" \
    --etcd-servers "http://$(address_of etcd)" \
    --bind-address "$STACK_HOST" --secure-port "$(port_of apiserver)" \
    --advertise-address "$STACK_HOST" --cert-dir "$PKI_DIR" \
    --tls-cert-file "$PKI_DIR/server.crt" --tls-private-key-file "$PKI_DIR/server.key" \
    --client-ca-file "$PKI_DIR/ca.crt" --token-auth-file "$PKI_DIR/tokens.csv" \
    --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file "$PKI_DIR/sa.pub" \
    --service-account-signing-key-file "$PKI_DIR/sa.key" \
    --service-cluster-ip-range 10.96.0.0/16 --authorization-mode RBAC \
    --disable-admission-plugins ServiceAccount --allow-privileged=true
}

health_etcd() {
  curl -fsS -m 3 "http://$(address_of etcd)/health" 2>/dev/null | grep -q '"health":"true"'
}

# The token goes through a file, so that no process list shows it.
apiserver_get() { # PATH
  curl -fsS -m 5 --cacert "$PKI_DIR/ca.crt" \
    -K <(printf 'header = "Authorization: Bearer %s"\n' "$(cat "$PKI_DIR/token")") \
    "https://$(address_of apiserver)$1" 2>/dev/null
}

health_apiserver() {
  [[ -f $PKI_DIR/done && $(apiserver_get /readyz) == ok ]] &&
    apiserver_get /api/v1/namespaces/default >/dev/null
}

apply_crds() {
  if ! compgen -G "$REPO_DIR/crds/*.y*ml" >/dev/null; then
    say "  no manifests in crds/: nothing to apply"
    return 0
  fi
  stack_kubectl apply --server-side --force-conflicts -f "$REPO_DIR/crds/" >&2 ||
    die "kubectl could not apply crds/."
  stack_kubectl wait --for=condition=Established --timeout=30s -f "$REPO_DIR/crds/" >/dev/null ||
    die "the custom resource definitions of crds/ were not established within 30 s."
}
