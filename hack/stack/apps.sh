# shellcheck shell=bash
# The operator and the controller daemon, as processes against the stack.

OPERATOR_CONFIG=$STATE_DIR/operator.yaml

write_operator_config() {
  cat >"$OPERATOR_CONFIG" <<YAML
operatorId: local
clusters:
  - name: local
    zookeeper: {connect: "$(address_of zookeeper)", chroot: $KAFKA_CHROOT}
    allowedNamespaces: [default]
    allowedTopics: ["*"]
YAML
}

zookeeper_connect() { echo "$(address_of zookeeper)$KAFKA_CHROOT"; }

start_operator() {
  pick_port operator >/dev/null
  start_process operator "$(apps_bin_dir)/kafka-reassignment-operator" \
    --config "$OPERATOR_CONFIG" --kubeconfig "$KUBECONFIG_FILE" --listen "$(address_of operator)"
}

start_controller() {
  pick_port controller >/dev/null
  start_process controller "$(apps_bin_dir)/kafka-reassignment-controller" \
    --zookeeper "$(zookeeper_connect)" --bootstrap-server "$(bootstrap_servers)" \
    --listen "$(address_of controller)" --cluster-name local
}

health_app() { # NAME
  [[ $(curl -s -m 3 -o /dev/null -w '%{http_code}' "http://$(address_of "$1")/readyz") == 200 ]]
}
