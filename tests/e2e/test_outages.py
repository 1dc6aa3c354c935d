"""ZooKeeper, the API server or the controller away: the operator lives, says so, and goes on."""

import json

from harness import (STACK, apply, check, condition, controller, create_topic, kra, operator, replicas, run, status,
                     wait_for, wait_phase, wait_reason, temp_file, zookeeper_back, Throttled, produce)

CONNECTED = 'kafka_reassignment_zk_connected{kafka_cluster="local"}'


def wait_succeeded_after_outage(name, assignments):
    """A request that arrives while brokers come back may rightly be refused: then it is tried again, as its message
    says."""
    for attempt in range(1, 6):
        if wait_phase("kra", name, "Succeeded", "Failed")["phase"] == "Succeeded":
            return
        reason = condition("kra", name, "Ready")["reason"]
        check(reason in ("UnderReplicated", "BrokerNotAvailable", "NoLeader", "UnknownTopicOrPartition"), reason)
        apply(kra(name, {"assignments": assignments, "attempt": attempt}))
        wait_for("the attempt is seen", lambda: status("kra", name).get("observedGeneration") == attempt + 1)
    raise AssertionError(f"{name} failed again and again")


def test_no_controller(world):
    create_topic("e2e-absent", [[1, 2]])
    world.controller.stop()
    wait_for("absent in the metric", lambda: world.operator.metric('kafka_reassignment_controller_present{kafka_cluster="local"}') == 0)
    apply(kra("absent", {"assignments": {"e2e-absent": {"0": [2, 3]}}}))
    wait_reason("kra", "absent", "ControllerAbsent")
    check(status("kra", "absent")["phase"] == "Pending", status("kra", "absent")["phase"])
    world.controller.start()
    wait_phase("kra", "absent", "Succeeded")
    check(replicas("e2e-absent") == {0: [2, 3]}, str(replicas("e2e-absent")))


def test_zookeeper_away_in_the_middle(world):
    create_topic("e2e-zk", [[1, 2]])
    run(STACK, "zookeeper-stop")
    try:
        wait_for("zk_connected is 0", lambda: world.operator.metric(CONNECTED) == 0)
        apply(kra("zk", {"assignments": {"e2e-zk": {"0": [2, 3]}}}))
        wait_for("ClusterUnreachable", lambda: condition("kra", "zk", "ClusterReachable").get("reason") == "ClusterUnreachable")
        check(world.operator.alive() and world.controller.alive(), "a dead ZooKeeper made the process unhealthy")
    finally:
        zookeeper_back()
    wait_for("zk_connected is 1", lambda: world.operator.metric(CONNECTED) == 1)
    wait_succeeded_after_outage("zk", {"e2e-zk": {"0": [2, 3]}})
    wait_for("the session of this test is back", lambda: isinstance(world.tree.ask("dump", "/admin"), list))
    check(replicas("e2e-zk") == {0: [2, 3]}, str(replicas("e2e-zk")))


def test_zookeeper_away_at_start(world):
    create_topic("e2e-zk0", [[1, 2]])
    world.operator.stop()
    world.controller.stop()
    run(STACK, "zookeeper-stop")
    try:
        world.operator.start()
        world.controller.start()
        apply(kra("zk0", {"assignments": {"e2e-zk0": {"0": [2, 3]}}}))
        wait_for("ClusterUnreachable", lambda: condition("kra", "zk0", "ClusterReachable").get("reason") == "ClusterUnreachable")
    finally:
        zookeeper_back()
    wait_succeeded_after_outage("zk0", {"e2e-zk0": {"0": [2, 3]}})
    wait_for("the session of this test is back", lambda: isinstance(world.tree.ask("dump", "/admin"), list))


def test_api_server_away(world):
    create_topic("e2e-api", [[1, 2]] * 3)
    produce("e2e-api", 3000)
    with Throttled("e2e-api") as throttle:
        apply(kra("api", {"assignments": {"e2e-api": {"0": [2, 3]}}}))
        wait_for("in flight", lambda: status("kra", "api").get("progress", {}).get("inFlight") == 1)
        run(STACK, "apiserver-stop", "--kill")
        try:
            check(world.operator.alive(), "the operator died with the API server")
            throttle.lift()
            wait_for("moved meanwhile", lambda: world.tree.in_flight() == [])
        finally:
            run(STACK, "apiserver-start")
    wait_phase("kra", "api", "Succeeded")
    apply(kra("api2", {"assignments": {"e2e-api": {"1": [2, 3]}}}))
    wait_phase("kra", "api2", "Succeeded")


def test_api_server_away_at_start(world):
    create_topic("e2e-api0", [[1, 2]])
    world.operator.stop()
    run(STACK, "apiserver-stop")
    try:
        world.operator.start()
        check(not world.operator.ready(), "ready without having listed anything")
    finally:
        run(STACK, "apiserver-start")
    wait_for("ready", world.operator.ready)
    apply(kra("api0", {"assignments": {"e2e-api0": {"0": [2, 3]}}}))
    wait_phase("kra", "api0", "Succeeded")
    check(replicas("e2e-api0") == {0: [2, 3]}, str(replicas("e2e-api0")))


def test_one_dead_cluster_stalls_only_itself(world):
    create_topic("e2e-two", [[1, 2]])
    with open(world.operator.words[1]) as f:
        text = f.read()
    config = temp_file(text.replace("clusters:", "clusters:\n  - name: dead\n    zookeeper: {connect: \"127.0.0.1:1\"}\n"
                                    "    allowedNamespaces: [default]\n    allowedTopics: [\"*\"]", 1))
    world.operator.stop()
    other = operator(config, world.kubeconfig).start()
    try:
        apply(kra("dead", {"clusterRef": {"name": "dead"}, "assignments": {"t": {"0": [1]}}}))
        apply(kra("alive", {"assignments": {"e2e-two": {"0": [2, 3]}}}))
        wait_phase("kra", "alive", "Succeeded")
        wait_for("ClusterUnreachable", lambda: condition("kra", "dead", "ClusterReachable").get("reason") == "ClusterUnreachable")
        check(other.ready() and other.alive(), "one dead cluster made the process unhealthy")
    finally:
        check(other.stop() == 0, "exit status")


def test_clean_stop(world):
    check(world.operator.stop(limit=5) == 0, "operator: exit status")
    check(world.controller.stop(limit=5) == 0, "controller: exit status")
    check("/admin/reassignment_controller" not in world.tree.dump("/admin"), "leadership was released")
