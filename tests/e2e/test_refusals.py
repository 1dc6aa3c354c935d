"""Bad input: a clear message, condition and reason; nothing moved, nothing written."""

import os

from harness import (apply, check, condition, controller, create_topic, kra, replicas, run, status, temp_file, wait_for,
                     wait_phase, wait_reason, operator, Failure)

# What the API server refuses at once: name → (spec, part of the message).
AT_ONCE = {
    "empty-replicas": ({"plan": {"partitions": [{"topic": "t", "partition": 0, "replicas": []}]}}, "replicas"),
    "duplicate-replicas": ({"plan": {"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 1]}]}}, "Duplicate value"),
    "negative-replicas": ({"plan": {"partitions": [{"topic": "t", "partition": 0, "replicas": [-1]}]}}, "greater than or equal to 0"),
    "two-forms": ({"plan": {"partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]},
                   "assignments": {"t": {"0": [1]}}}, "exactly one of plan, assignments, rollbackOf"),
    "no-form": ({}, "exactly one of plan, assignments, rollbackOf"),
    "path-topic": ({"assignments": {"../brokers": {"0": [1]}}}, "not a topic name"),
    "path-topic-plan": ({"plan": {"partitions": [{"topic": "../brokers", "partition": 0, "replicas": [1]}]}}, "not a topic name"),
    "long-topic": ({"plan": {"partitions": [{"topic": "x" * 250, "partition": 0, "replicas": [1]}]}}, "249"),
    "twice": ({"plan": {"partitions": [{"topic": "t", "partition": 0, "replicas": [1]},
                                       {"topic": "t", "partition": 0, "replicas": [2]}]}}, "Duplicate value"),
    "unknown-field": ({"assignments": {"t": {"0": [1]}}, "suspended": True}, "suspended"),
}


def nothing_written(world, before):
    check(world.tree.requests() == [], "a request was written")
    check(world.tree.markers() == before, "a marker was written")


def test_refused_by_the_api_server(world):
    before = world.tree.markers()
    for name, (spec, text) in AT_ONCE.items():
        done = apply(kra(name, spec), ok=False, server_side=False)
        check(done.returncode != 0 and text in done.stderr, f"{name}: {done.stderr[:400]}")
    nothing_written(world, before)


def test_fields_of_later_releases_are_never_ignored(world):
    create_topic("e2e-later", [[1, 2]])
    before = world.tree.markers()
    base = {"assignments": {"e2e-later": {"0": [2, 3]}}}
    for name, more in {"suspend": {"suspend": True}, "dry-run": {"dryRun": True}, "manual": {"approval": "Manual"},
                       "per-broker": {"maxInFlightPerBroker": 1}, "throttle": {"throttle": {"bytesPerSecond": "50Mi"}},
                       "deadline": {"deadline": "2030-01-01T00:00:00Z"}, "cancel-policy": {"deletionPolicy": "Cancel"},
                       "wait-policy": {"deletionPolicy": "Wait"}}.items():
        apply(kra(name, {**base, **more}))
        wait_phase("kra", name, "Failed")
        c = condition("kra", name, "Accepted")
        check((c["status"], c["reason"]) == ("False", "UnsupportedFeature"), f"{name}: {c}")
    apply(kra("rollback", {"rollbackOf": {"name": "suspend"}}))
    wait_phase("kra", "rollback", "Failed")
    check(condition("kra", "rollback", "Accepted")["reason"] == "UnsupportedFeature", "rollbackOf")
    nothing_written(world, before)
    check(replicas("e2e-later") == {0: [1, 2]}, "moved")


def test_refusals_that_configuration_lifts(world):
    before = world.tree.markers()
    apply(kra("no-cluster", {"clusterRef": {"name": "elsewhere"}, "assignments": {"t": {"0": [1]}}}))
    seen = wait_reason("kra", "no-cluster", "ClusterNotFound")
    check(seen and status("kra", "no-cluster")["phase"] == "Pending", "phase")
    check(condition("kra", "no-cluster", "Stalled")["status"] == "True", "Stalled")
    check("elsewhere" in condition("kra", "no-cluster", "Accepted")["message"], "the message names the cluster")
    run("kubectl", "create", "namespace", "not-allowed", ok=False)
    apply(kra("outside", {"assignments": {"t": {"0": [1]}}}, namespace="not-allowed"))
    wait_for("NamespaceNotAllowed", lambda: condition("kra", "outside", "Accepted", "not-allowed").get("reason") == "NamespaceNotAllowed")
    run("kubectl", "delete", "kra", "outside", "-n", "not-allowed")
    nothing_written(world, before)


def test_refused_by_the_controller(world):
    create_topic("e2e-refuse", [[1, 2]] * 2)
    for name, assignments, reason in [
            ("unknown-topic", {"e2e-nowhere": {"0": [1, 2]}}, "UnknownTopicOrPartition"),
            ("unknown-partition", {"e2e-refuse": {"7": [1, 2]}}, "UnknownTopicOrPartition"),
            ("no-broker", {"e2e-refuse": {"0": [1, 9], "1": [2, 3]}}, "BrokerNotAvailable"),
            ("factor", {"e2e-refuse": {"0": [1, 2, 3]}}, "ReplicationFactorChange")]:
        apply(kra(name, {"assignments": assignments}))
        wait_phase("kra", name, "Failed")
        c = condition("kra", name, "Accepted")
        check((c["status"], c["reason"]) == ("False", reason), f"{name}: {c}")
        check(len(c["message"]) > 20, c["message"])
    check(replicas("e2e-refuse") == {0: [1, 2], 1: [1, 2]}, "all or nothing: " + str(replicas("e2e-refuse")))
    apply(kra("allowed", {"assignments": {"e2e-refuse": {"0": [1, 2, 3]}}, "allow": ["ReplicationFactorChange"]}))
    wait_phase("kra", "allowed", "Succeeded")
    check(replicas("e2e-refuse")[0] == [1, 2, 3], str(replicas("e2e-refuse")))


def test_log_dirs(world):
    create_topic("e2e-dirs", [[1, 2]])
    entry = {"topic": "e2e-dirs", "partition": 0, "replicas": [2, 3]}
    apply(kra("dirs", {"plan": {"partitions": [{**entry, "log_dirs": ["/data/a", "any"]}]}}))
    wait_phase("kra", "dirs", "Failed")
    check(condition("kra", "dirs", "Accepted")["reason"] == "LogDirsNotSupported", "reason")
    apply(kra("dirs-any", {"plan": {"partitions": [{**entry, "log_dirs": ["any", "any"]}]}}))
    wait_phase("kra", "dirs-any", "Succeeded")


def test_plan_too_large(world):
    before = world.tree.markers()
    topic = "t" * 200
    partitions = [{"topic": f"{topic}{n // 20}", "partition": n % 20, "replicas": [1, 2, 3]} for n in range(5600)]
    apply(kra("large", {"plan": {"partitions": partitions}}))
    wait_phase("kra", "large", "Failed")
    check(condition("kra", "large", "Accepted")["reason"] == "PlanTooLarge", "reason")
    nothing_written(world, before)


def test_attempt_starts_a_failed_one_again(world):
    apply(kra("again", {"assignments": {"e2e-again": {"0": [2, 3]}}}))
    wait_phase("kra", "again", "Failed")
    create_topic("e2e-again", [[1, 2]])
    apply(kra("again", {"assignments": {"e2e-again": {"0": [2, 3]}}, "attempt": 1}))
    wait_phase("kra", "again", "Succeeded")
    check(replicas("e2e-again") == {0: [2, 3]}, str(replicas("e2e-again")))


def test_broken_configuration_names_the_line(world):
    with open(os.environ["KRO_OPERATOR_CONFIG"]) as f:
        good = f.read()
    broken = temp_file(good + "\nallowedTopicz: []\n")
    done = run(os.path.join(os.environ["KRO_BIN"], "kafka-reassignment-operator"), "--config", broken, "--kubeconfig",
               os.environ["KUBECONFIG"], "--listen", "127.0.0.1:0", ok=False)
    line = str(good.count("\n") + 2)
    check(done.returncode == 2, f"exit {done.returncode}")
    check("allowedTopicz" in done.stderr and f":{line}:" in done.stderr, done.stderr)
    done = run(os.path.join(os.environ["KRO_BIN"], "kafka-reassignment-controller"), "--zookeeper", "nonsense", ok=False)
    check(done.returncode == 2, f"exit {done.returncode}")
