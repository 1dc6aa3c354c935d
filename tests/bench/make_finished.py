#!/usr/bin/env python3
"""Makes N finished KafkaReassignments of 20 partitions each through a running `kubectl proxy`.

usage: make_finished.py PORT NAMESPACE N CLUSTER

Each is created and then told Succeeded through its status, as the operator would have left it. Names that are there
already stay, so that a run which was interrupted can be repeated.
"""

import concurrent.futures
import http.client
import json
import sys
import threading

GROUP = "kafka-reassignment.io/v1alpha1"
PARTITIONS = 20
THEN = "2024-01-01T00:00:00Z"
LOCAL = threading.local()


def call(port, method, path, body):
    if not hasattr(LOCAL, "connection"):
        LOCAL.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    content = "application/merge-patch+json" if method == "PATCH" else "application/json"
    LOCAL.connection.request(method, path, json.dumps(body), {"Content-Type": content})
    answer = LOCAL.connection.getresponse()
    text = answer.read()
    if answer.status not in (200, 201, 409):
        raise SystemExit(f"{method} {path}: {answer.status} {text[:400]!r}")
    return answer.status


def finished_status():
    condition = {"observedGeneration": 1, "lastTransitionTime": THEN, "message": "20 of 20 partitions moved"}
    return {
        "observedGeneration": 1,
        "phase": "Succeeded",
        "startTime": THEN,
        "completionTime": THEN,
        "progress": {"display": "20/20", "total": PARTITIONS, "completed": PARTITIONS},
        "requests": [{"name": "request_0000000000", "czxid": "1", "partitions": PARTITIONS, "done": True}],
        "conditions": [
            {"type": "Accepted", "status": "True", "reason": "Accepted", **condition},
            {"type": "Progressing", "status": "False", "reason": "Succeeded", **condition},
            {"type": "Complete", "status": "True", "reason": "Succeeded", **condition},
        ],
    }


def make(port, namespace, number, cluster):
    name = f"done-{number:05}"
    topic = f"topic-{name}"
    wanted = {str(p): [1 + p % 3, 1 + (p + 1) % 3] for p in range(PARTITIONS)}
    base = f"/apis/{GROUP}/namespaces/{namespace}/kafkareassignments"
    call(port, "POST", base, {
        "apiVersion": GROUP, "kind": "KafkaReassignment", "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterRef": {"name": cluster}, "assignments": {topic: wanted}},
    })
    call(port, "PATCH", f"{base}/{name}/status", {"status": finished_status()})


def main():
    port, namespace, count, cluster = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda n: make(port, namespace, n, cluster), range(count)):
            pass


main()
