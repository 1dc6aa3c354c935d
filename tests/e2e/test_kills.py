"""kill -9 at any moment: every partition ends at its target (or its originals), and no request exists twice."""

import os
import random

from harness import apply, check, create_topic, delete, get, kra, krac, replicas, status, wait_for, wait_phase

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


MOST_PER_TOPIC = 500  # the map form takes 550 of one topic


def make_topics(prefix, partitions):
    """Topics that hold so many partitions, all on [1, 2]; and a plan that moves every one of them."""
    plan = {}
    for first in range(0, partitions, MOST_PER_TOPIC):
        n = min(MOST_PER_TOPIC, partitions - first)
        topic = f"{prefix}-{first // MOST_PER_TOPIC}"
        create_topic(topic, [[1, 2]] * n)
        plan[topic] = {str(p): [3, 1] if p % 2 else [2, 3] for p in range(n)}
    return plan


def lists_now(plan):
    return {(t, str(p)): r for t in plan for p, r in replicas(t).items()}


def run_plan(world, name, prefix, partitions, kills):
    rng = random.Random(SEED)
    print(f"     seed {SEED}", flush=True)
    plan = make_topics(prefix, partitions)
    apply(kra(name, {"assignments": plan, "maxInFlight": 50}))
    kill_and_restart(world, rng, kills, lambda: status("kra", name).get("phase") == "Succeeded")
    seen = wait_phase("kra", name, "Succeeded", limit=900)
    check(seen["progress"]["completed"] == partitions, str(seen["progress"]))
    now = lists_now(plan)
    wrong = {k: r for k, r in now.items() if r != plan[k[0]][k[1]]}
    check(not wrong and len(now) == partitions, f"not at their targets: {wrong}")
    uid = get("kra", name)["metadata"]["uid"]
    sent = [r for r in world.tree.results().values() if r.get("client") == f"local/{uid}"]
    check(len(sent) == 1 and sent[0]["done"], f"{len(sent)} requests were executed instead of 1: {sent}"[:2000])
    check(len([m for m in world.tree.markers() if f"/{uid}/" in m]) == 1, "markers")


def test_killed_while_moving(world):
    run_plan(world, "killed", "e2e-killed", 200, 3)


def test_killed_while_moving_2000(world):
    run_plan(world, "killed2000", "e2e-killed2000", 2000, 12)


test_killed_while_moving_2000.large = True


def cancel_plan(world, name, prefix, partitions, kills):
    rng = random.Random(SEED)
    print(f"     seed {SEED}", flush=True)
    plan = make_topics(prefix, partitions)
    apply(kra(name, {"assignments": plan, "maxInFlight": 50}))
    wait_for("some are done", lambda: status("kra", name).get("progress", {}).get("completed", 0) > 0)
    apply(krac("kill-stop", {"all": True}))
    kill_and_restart(world, rng, kills, lambda: status("krac", "kill-stop").get("phase") in ("Succeeded", "PartiallyCancelled"))
    wait_phase("krac", "kill-stop", "Succeeded", "PartiallyCancelled", limit=600)
    seen = wait_phase("kra", name, "Cancelled", "PartiallyCancelled", "Succeeded", limit=300)
    now = lists_now(plan)
    at_target = {k for k, r in now.items() if r == plan[k[0]][k[1]]}
    at_originals = {k for k, r in now.items() if r == [1, 2]}
    check(len(at_target) + len(at_originals) == partitions == len(now),
          f"{len(at_target)} at the target, {len(at_originals)} at the originals of {partitions}")
    (result,) = [r for r in world.tree.results().values() if r.get("client", "").endswith(get("kra", name)["metadata"]["uid"])]
    said_done = {(t, str(p)) for o in ("completed", "completed_first") for t, ps in result["finished"].get(o, {}).items() for p in ps}
    check(said_done == at_target, "the result says of other partitions than Kafka that they are at their targets")
    check(seen["progress"]["restored"] == len([1 for t, ps in result["finished"].get("restored", {}).items() for p in ps]),
          str(seen["progress"]))
    check(world.tree.in_flight() == [], "still in flight")
    delete("krac", "kill-stop")


def test_killed_while_cancelling(world):
    cancel_plan(world, "cancelled", "e2e-kcancel", 200, 3)


def test_killed_while_cancelling_2000(world):
    cancel_plan(world, "cancelled2000", "e2e-kcancel2000", 2000, 8)


test_killed_while_cancelling_2000.large = True
