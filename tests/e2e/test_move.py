"""The main job: apply a manifest, partitions move, the outcome is told."""

import json

from harness import (apply, check, condition, create_topic, get, kafka, kra, kubectl, replicas, status, temp_file, wait_for,
                     wait_phase, Throttled, produce)


def test_plan_form(world):
    create_topic("e2e-plan", [[1, 2]] * 4)
    plan = {"version": 1, "partitions": [{"topic": "e2e-plan", "partition": p, "replicas": r}
                                         for p, r in enumerate([[2, 3], [3, 1], [2, 1], [1, 2]])]}
    apply(kra("plan", {"plan": plan, "reason": "OPS-1"}))
    seen = wait_phase("kra", "plan", "Succeeded")
    check(replicas("e2e-plan") == {0: [2, 3], 1: [3, 1], 2: [2, 1], 3: [1, 2]}, str(replicas("e2e-plan")))
    verify = kafka("reassign", "--verify", "--reassignment-json-file", temp_file(json.dumps(plan), ".json"))
    check(verify.count("is completed") == 4, verify)

    obj = get("kra", "plan")
    check(seen["observedGeneration"] == obj["metadata"]["generation"], "observedGeneration")
    check(seen["progress"]["display"] == "4/4 (100%)", str(seen["progress"]))
    check(seen["progress"]["total"] == 4 and seen["progress"]["completed"] == 4, str(seen["progress"]))
    check(seen["planHash"].startswith("sha256:"), seen["planHash"])
    for type_, state, reason in [("Ready", "True", "AllReplicasVerified"), ("Succeeded", "True", "AllReplicasVerified"),
                                 ("Stalled", "False", "NotStalled"), ("Accepted", "True", "Valid"),
                                 ("Approved", "True", "Automatic"), ("ClusterReachable", "True", "Connected"),
                                 ("Suspended", "False", "NotSuspended")]:
        c = condition("kra", "plan", type_)
        check((c.get("status"), c.get("reason")) == (state, reason), f"{type_}: {c}")
        check(c["observedGeneration"] == obj["metadata"]["generation"], f"{type_}: {c}")
    check(condition("kra", "plan", "Reconciling")["status"] == "False", "Reconciling")
    check("finalizers" not in obj["metadata"], "a kra with deletionPolicy Orphan has no finalizer")
    check(len(seen["requests"]) == 1 and seen["requests"][0]["done"], str(seen["requests"]))
    check(world.tree.in_flight() == [], "znodes are left in /admin/reassignments")
    check(world.tree.requests() == [], "the inbox is not empty")
    table = kubectl("get", "kra", "plan").stdout.split()
    check(table[:8] == ["NAME", "CLUSTER", "PHASE", "PROGRESS", "STALLED", "LAST-MOVE", "STARTED", "REASON"], str(table))
    events = wait_for("events", lambda: [e for e in json.loads(kubectl("get", "events", "-o", "json").stdout)["items"]
                                         if e.get("involvedObject", {}).get("uid") == obj["metadata"]["uid"]])
    check({"Requested", "Succeeded"} <= {e["reason"] for e in events}, str([e["reason"] for e in events]))


def test_assignments_form_and_second_apply_is_quiet(world):
    create_topic("e2e-map", [[1, 2]] * 3)
    manifest = kra("map", {"assignments": {"e2e-map": {"0": [3, 2], "2": [2, 3]}}})
    apply(manifest)
    wait_phase("kra", "map", "Succeeded")
    check(replicas("e2e-map") == {0: [3, 2], 1: [1, 2], 2: [2, 3]}, str(replicas("e2e-map")))
    before = get("kra", "map")["metadata"]["resourceVersion"]
    markers = world.tree.markers()
    apply(manifest)
    world.operator.stop()
    world.operator.start()
    wait_for("ready", world.operator.ready)
    check(get("kra", "map")["metadata"]["resourceVersion"] == before, "a restart wrote the status again")
    check(world.tree.markers() == markers, "a restart sent something again")


def test_edited_target_replaces_the_running_one(world):
    create_topic("e2e-edit", [[1, 2]] * 3)
    produce("e2e-edit", 6000)
    with Throttled("e2e-edit") as throttle:
        apply(kra("edit", {"assignments": {"e2e-edit": {"0": [2, 3], "1": [1, 3]}}}))
        wait_for("two in flight", lambda: status("kra", "edit").get("progress", {}).get("inFlight") == 2)
        apply(kra("edit", {"assignments": {"e2e-edit": {"0": [2, 1], "1": [1, 3], "2": [2, 1]}}}))
        wait_for("the changed and the new one are done",
                 lambda: status("kra", "edit").get("progress", {}).get("completed") == 2)
        check(replicas("e2e-edit")[0] == [2, 1], str(replicas("e2e-edit")))
        throttle.lift()
    seen = wait_phase("kra", "edit", "Succeeded")
    check(seen["observedGeneration"] == 2, str(seen["observedGeneration"]))
    check(replicas("e2e-edit") == {0: [2, 1], 1: [1, 3], 2: [2, 1]}, str(replicas("e2e-edit")))


def test_max_in_flight_and_the_slowest_holds_nobody_up(world):
    create_topic("e2e-window", [[1, 2]] * 6)
    create_topic("e2e-slowest", [[1, 2]])
    produce("e2e-slowest", 6000)
    with Throttled("e2e-slowest") as throttle:
        assignments = {"e2e-slowest": {"0": [3, 2]}, "e2e-window": {str(p): [3, 2] for p in range(6)}}
        apply(kra("window", {"assignments": assignments, "maxInFlight": 2}))
        seen = wait_for("all but the slow one", lambda: status("kra", "window").get("progress", {}).get("completed") == 6)
        check(seen and status("kra", "window")["progress"]["inFlight"] == 1, str(status("kra", "window")["progress"]))
        check(status("kra", "window")["phase"] == "Running", status("kra", "window")["phase"])
        throttle.lift()
    wait_phase("kra", "window", "Succeeded")
    check(replicas("e2e-slowest") == {0: [3, 2]}, str(replicas("e2e-slowest")))


def test_already_at_target(world):
    create_topic("e2e-there", [[1, 2]])
    apply(kra("there", {"assignments": {"e2e-there": {"0": [1, 2]}}}))
    seen = wait_phase("kra", "there", "Succeeded")
    check(seen["progress"]["completed"] == 1, str(seen["progress"]))


def test_metrics_of_a_run(world):
    create_topic("e2e-metrics", [[1, 2]])
    series = 'kafka_reassignment_completed_total{kafka_cluster="local",result="succeeded"}'
    before = world.operator.metric(series)
    check(before is not None, "the series exists from the start: " + series)
    apply(kra("metrics", {"assignments": {"e2e-metrics": {"0": [2, 3]}}}))
    wait_phase("kra", "metrics", "Succeeded")
    wait_for("counted", lambda: world.operator.metric(series) == before + 1)
    check('name="metrics"' not in world.operator.metrics(), "a finished resource has series of its own")
    check(world.operator.metric('kafka_reassignment_controller_present{kafka_cluster="local"}') == 1, "controller_present")
    check(world.controller.metric('kafka_reassignment_controller_leader{kafka_cluster="local"}') == 1, "leader")
