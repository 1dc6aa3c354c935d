"""Many resources at once: each reaches its znode, with exactly one request each."""

import json

from harness import apply, check, create_topic, kra, kubectl, wait_for


def apply_many(world, resources, partitions):
    """Without a controller, so that every request stays to be counted."""
    world.controller.stop()
    for t in range(5):
        create_topic(f"e2e-load-{t}", [[1, 2]] * partitions)
    names = [f"load-{n}" for n in range(resources)]
    objects = [kra(n, {"assignments": {f"e2e-load-{i % 5}": {str(p): [1, 2] for p in range(partitions)}}})
               for i, n in enumerate(names)]
    kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    requests = wait_for(f"{resources} requests", lambda: len(world.tree.requests()) >= resources and world.tree.requests(), 300)
    check(len(requests) == resources, f"{len(requests)} requests of {resources} resources")
    uids = [json.loads(n["data"])["client"] for p, n in world.tree.dump("/admin/reassignment_requests").items() if n["data"]]
    check(len(set(uids)) == resources, "a resource has two requests")
    world.controller.start()
    wait_for("all are done", lambda: world.tree.requests() == [], 600, 1)
    done = 'Succeeded'
    wait_for("all Succeeded", lambda: kubectl("get", "kra", "-o", "jsonpath={.items[*].status.phase}").stdout.split().count(done)
             == resources, 600, 1)


def test_100_resources(world):
    apply_many(world, 100, 20)


def test_1000_resources(world):
    apply_many(world, 1000, 20)


test_1000_resources.large = True
