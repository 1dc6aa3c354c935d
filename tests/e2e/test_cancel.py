"""KafkaReassignmentCancel with all: true: the lock, and what it does to moves."""

from harness import (apply, check, condition, create_topic, delete, get, kafka, kra, krac, produce, replicas, status,
                     temp_file, wait_for, wait_phase, wait_reason, Throttled)

LOCK = "/admin/reassign_cancel"


def slow_move(world, name, topic, target):
    apply(kra(name, {"assignments": {topic: target}}))
    wait_for(f"{name} in flight", lambda: status("kra", name).get("progress", {}).get("inFlight", 0) == len(target))


def test_cancel_restores_and_waiting_ones_go_on(world):
    create_topic("e2e-cancel", [[1, 2]] * 3)
    create_topic("e2e-waits", [[1, 2]])
    produce("e2e-cancel", 9000)
    with Throttled("e2e-cancel"):
        slow_move(world, "moving", "e2e-cancel", {"0": [2, 3], "1": [3, 2], "2": [1, 3]})
        apply(krac("stop", {"all": True, "reason": "OPS-9"}))
        seen = wait_phase("krac", "stop", "Succeeded")
        check(seen["progress"]["affected"] == 3 and seen["progress"]["restored"] == 3, str(seen["progress"]))
        ready = condition("krac", "stop", "Ready")
        check((ready["status"], ready["reason"]) == ("True", "Locked"), str(ready))
        lock = world.tree.dump(LOCK)[LOCK]
        check(lock["version"] == 1 and '"owner":"local"' in lock["data"].replace(" ", ""), str(lock))
        check(seen["lock"]["path"] == LOCK and seen["lock"]["czxid"].removeprefix("0x") == lock["czxid"], str(seen["lock"]))
        check(get("krac", "stop")["metadata"]["finalizers"] == ["kafka-reassignment.io/operator"], "finalizer")
        moving = wait_phase("kra", "moving", "Cancelled")
        check(moving["progress"]["restored"] == 3, str(moving["progress"]))
        check(replicas("e2e-cancel") == {0: [1, 2], 1: [1, 2], 2: [1, 2]}, str(replicas("e2e-cancel")))

        apply(kra("waits", {"assignments": {"e2e-waits": {"0": [3, 1]}}}))
        wait_reason("kra", "waits", "Locked")
        check(status("kra", "waits")["phase"] == "Pending", "phase")
        check(replicas("e2e-waits") == {0: [1, 2]}, "moved under a lock")
        delete("krac", "stop")
    check(LOCK not in world.tree.dump(LOCK), "the lock is gone with the object")
    wait_phase("kra", "waits", "Succeeded")
    check(replicas("e2e-waits") == {0: [3, 1]}, str(replicas("e2e-waits")))
    check(status("kra", "moving")["phase"] == "Cancelled", "a cancelled one stays so")
    apply(kra("moving", {"assignments": {"e2e-cancel": {"0": [2, 3], "1": [3, 2], "2": [1, 3]}}, "attempt": 1}))
    wait_phase("kra", "moving", "Succeeded")
    check(replicas("e2e-cancel") == {0: [2, 3], 1: [3, 2], 2: [1, 3]}, str(replicas("e2e-cancel")))


def test_several_objects_share_one_lock(world):
    apply(krac("one", {"all": True}))
    wait_phase("krac", "one", "Succeeded")
    czxid = world.tree.dump(LOCK)[LOCK]["czxid"]
    apply(krac("two", {"all": True}))
    wait_phase("krac", "two", "Succeeded")
    delete("krac", "one")
    check(world.tree.dump(LOCK)[LOCK]["czxid"] == czxid, "the lock stands as long as one object does")
    delete("krac", "two")
    check(LOCK not in world.tree.dump(LOCK), "gone with the last one")


def test_a_persons_lock_is_reported_and_never_deleted(world):
    world.tree.ask("create", LOCK)
    czxid = world.tree.dump(LOCK)[LOCK]["czxid"]
    apply(krac("theirs", {"all": True}))
    wait_reason("krac", "theirs", "LockHeldByOther")
    apply(kra("held", {"assignments": {"e2e-held": {"0": [1, 2]}}}))
    wait_reason("kra", "held", "Locked")
    delete("krac", "theirs")
    check(world.tree.dump(LOCK)[LOCK]["czxid"] == czxid, "a foreign lock was deleted")
    world.tree.ask("delete", LOCK)
    wait_phase("kra", "held", "Failed")  # its topic does not exist: it was asked for as soon as the lock was gone
    check(condition("kra", "held", "Ready")["reason"] == "UnknownTopicOrPartition", "reason")


def test_own_lock_without_an_object_is_removed_at_start(world):
    world.operator.stop()
    world.tree.ask("create", LOCK)
    world.tree.ask("set", LOCK, '{"version":1,"owner":"local"}')
    world.operator.start()
    wait_for("the lock is gone", lambda: LOCK not in world.tree.dump(LOCK))


def test_other_scopes_are_refused_until_built(world):
    for name, spec in {"by-name": {"reassignments": [{"name": "x"}]},
                       "by-partition": {"partitions": [{"topic": "t", "partitions": [0]}]}}.items():
        apply(krac(name, spec))
        wait_phase("krac", name, "Failed")
        check(condition("krac", name, "Accepted")["reason"] == "UnsupportedFeature", name)
    check(LOCK not in world.tree.dump(LOCK), "a lock was made")


def test_foreign_moves_are_not_hit_unasked(world):
    create_topic("e2e-foreign", [[1, 2]])
    produce("e2e-foreign", 6000)
    plan = temp_file('{"version":1,"partitions":[{"topic":"e2e-foreign","partition":0,"replicas":[2,3]}]}', ".json")
    with Throttled("e2e-foreign"):
        kafka("reassign", "--execute", "--reassignment-json-file", plan)
        wait_for("published", lambda: "e2e-foreign" in world.tree.dump("/admin/reassignment_foreign")
                 ["/admin/reassignment_foreign"]["data"], 20)
        apply(krac("unasked", {"all": True}))
        wait_for("AwaitingAcknowledgement", lambda: status("krac", "unasked").get("phase") == "AwaitingAcknowledgement")
        check(condition("krac", "unasked", "Accepted")["reason"] == "UnsupportedFeature", "reason")
        check(status("krac", "unasked")["preview"] == {"foreign": 1}, str(status("krac", "unasked")["preview"]))
        check(LOCK not in world.tree.dump(LOCK), "a lock was made")
        delete("krac", "unasked")
        apply(krac("asked", {"all": True, "acknowledgeForeign": True}))
        seen = wait_phase("krac", "asked", "Succeeded")
        check(seen["progress"]["foreign"] == 1 and seen["progress"]["restored"] == 1, str(seen["progress"]))
        check(sorted(replicas("e2e-foreign")[0]) == [1, 2], str(replicas("e2e-foreign")))
        delete("krac", "asked")
