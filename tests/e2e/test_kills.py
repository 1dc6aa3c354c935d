"""kill -9 at any moment: every partition ends at its target (or its originals), and no request exists twice."""

import os
import random

from harness import (apply, check, create_topic, delete, kra, krac, replicas, status, wait_for, wait_phase)

SEED = int(os.environ.get("KRO_E2E_SEED", "0")) or random.randrange(1 << 30)


def kill_and_restart(world, rng, moments, done):
    """Kills both executables, in turn and at random moments of the tree's progress, `moments` times."""
    for i in range(moments):
        seen = len(world.tree.in_flight()) + len(world.tree.requests()) + rng.randrange(1, 40)
        try:
            wait_for("something moved on", lambda: done() or len(world.tree.in_flight()) + len(world.tree.requests()) != seen,
                     10, rng.choice([0.02, 0.1, 0.3]))
        except AssertionError:
            pass
        app = rng.choice([world.operator, world.controller])
        app.kill()
        app.start(wait=False)


def requests_sent(world, uid):
    """The markers of a resource: one a request that was ever sent."""
    return [m for m in world.tree.markers() if f"/{uid}/" in m]


def run_plan(world, name, topic, partitions, kills):
    rng = random.Random(SEED)
    print(f"     seed {SEED}", flush=True)
    create_topic(topic, [[1, 2]] * partitions)
    target = {str(p): [3, 1] if p % 2 else [2, 3] for p in range(partitions)}
    apply(kra(name, {"assignments": {f"{topic}": target}, "maxInFlight": 50}))
    kill_and_restart(world, rng, kills, lambda: status("kra", name).get("phase") == "Succeeded")
    seen = wait_phase("kra", name, "Succeeded", limit=900)
    check(seen["progress"]["completed"] == partitions, str(seen["progress"]))
    now = replicas(topic)
    wrong = {p: r for p, r in now.items() if r != target[str(p)]}
    check(not wrong and len(now) == partitions, f"not at their targets: {wrong}")
    results = [r for r in world.tree.results().values() if r.get("client", "").startswith("local/") and not r.get("done")]
    check(results == [], f"results that are not done: {results}")
    sent = [r for r in world.tree.results().values() if topic in str(r.get("finished"))]
    check(len(sent) == 1, f"{len(sent)} requests were executed instead of 1")


def test_killed_while_moving(world):
    run_plan(world, "killed", "e2e-killed", 200, 6)


def test_killed_while_moving_2000(world):
    run_plan(world, "killed2000", "e2e-killed2000", 2000, 12)


test_killed_while_moving_2000.large = True


def cancel_plan(world, name, topic, partitions, kills):
    rng = random.Random(SEED)
    print(f"     seed {SEED}", flush=True)
    create_topic(topic, [[1, 2]] * partitions)
    target = {str(p): [3, 1] if p % 2 else [2, 3] for p in range(partitions)}
    apply(kra(name, {"assignments": {topic: target}, "maxInFlight": 50}))
    wait_for("moving", lambda: status("kra", name).get("progress", {}).get("completed", 0) > 0 or world.tree.in_flight())
    apply(krac("kill-stop", {"all": True}))
    kill_and_restart(world, rng, kills, lambda: status("krac", "kill-stop").get("phase") in ("Succeeded", "PartiallyCancelled"))
    wait_phase("krac", "kill-stop", "Succeeded", "PartiallyCancelled", limit=600)
    seen = wait_phase("kra", name, "Cancelled", "PartiallyCancelled", "Succeeded", limit=300)
    now = replicas(topic)
    at_target = sum(1 for p, r in now.items() if r == target[str(p)])
    at_originals = sum(1 for r in now.values() if r == [1, 2])
    check(at_target + at_originals == partitions, f"{at_target} at the target, {at_originals} at the originals of {partitions}")
    check(seen["progress"]["completed"] <= at_target, f"{seen['progress']}, {at_target} at their targets")
    check(world.tree.in_flight() == [], "still in flight")
    delete("krac", "kill-stop")


def test_killed_while_cancelling(world):
    cancel_plan(world, "cancelled", "e2e-kcancel", 200, 4)


def test_killed_while_cancelling_2000(world):
    cancel_plan(world, "cancelled2000", "e2e-kcancel2000", 2000, 8)


test_killed_while_cancelling_2000.large = True
