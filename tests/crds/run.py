#!/usr/bin/env python3
"""Runs the CRDs of crds/ against the API server of $KUBECONFIG, which must have them already.

valid/*.yaml must be accepted; invalid/*.yaml must be refused with a message that holds the text of their first
comment line. Then edits are tried, and the largest allowed objects: created, spec and status written, deleted. A
CRD can be accepted and its largest object too, and then every later write of that object fails: only trying shows.
Objects live in the namespace crd-tests and name a cluster that no operator has.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACE = "crd-tests"
GROUP = "kafka-reassignment.io/v1alpha1"
CLUSTER = "no-such-cluster"
HASH_A = "sha256:" + "a" * 64
HASH_B = "sha256:" + "b" * 64
results = {"passed": 0, "failed": 0}


def kubectl(*args, stdin=None):
    done = subprocess.run(["kubectl", "-n", NAMESPACE, *args], input=stdin, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stdout + done.stderr


def report(name, problem=None):
    results["failed" if problem else "passed"] += 1
    if problem:
        print(f"FAILED {name}: {problem}")


def check_refused(name, answer, expected):
    rc, _, text = answer
    if rc == 0:
        report(name, f"accepted; should be refused with: {expected}")
    elif expected not in text:
        report(name, f"refused, but without the text\n  {expected}\nin\n  {text.strip()[:1500]}")
    else:
        report(name)


def check_accepted(name, answer):
    rc, _, text = answer
    report(name, None if rc == 0 else f"refused: {text.strip()[:1500]}")
    return rc == 0


def dry_run(path):
    return kubectl("apply", "--dry-run=server", "-f", str(path))


def files():
    valid = sorted((HERE / "valid").glob("*.yaml"))
    invalid = sorted((HERE / "invalid").glob("*.yaml"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for path, answer in zip(valid, pool.map(dry_run, valid)):
            check_accepted(f"valid/{path.name}", answer)
        for path, answer in zip(invalid, pool.map(dry_run, invalid)):
            first = path.read_text().splitlines()[0]
            if not first.startswith("# ") or not first[2:].strip():
                report(f"invalid/{path.name}", "its first line must be a comment with the expected message")
                continue
            check_refused(f"invalid/{path.name}", answer, first[2:])


def make(kind, name, spec):
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"clusterRef": {"name": CLUSTER}, **spec}}


def create(obj):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(obj, file, separators=(",", ":"))
        file.flush()
        return kubectl("create", "-o", "name", "-f", file.name)


def patch(kind, name, change, status=False, form="merge"):
    args = ["patch", kind, name, "--type", form, "-o", "name", "-p", json.dumps(change)]
    return kubectl(*args, *(["--subresource=status"] if status else []))


def delete(*names):
    kubectl("delete", "--ignore-not-found", "--wait=false", *names)


def edits():
    plan = {"plan": {"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]}}
    if not check_accepted("edit: create", create(make("KafkaReassignment", "edit", plan))):
        return
    check_refused("edit: another cluster", patch("kra", "edit", {"spec": {"clusterRef": {"name": "other"}}}),
                  f'spec.clusterRef.name: Forbidden: clusterRef.name cannot change from "{CLUSTER}" to "other"; '
                  "create a new KafkaReassignment")
    target = {"spec": {"plan": {"partitions": [{"topic": "t", "partition": 0, "replicas": [2, 1]}]}}}
    check_accepted("edit: the plan", patch("kra", "edit", target))
    check_accepted("edit: throttle and suspend",
                   patch("kra", "edit", {"spec": {"throttle": {"bytesPerSecond": "1Mi"}, "suspend": True}}))
    check_accepted("edit: from plan to assignments",
                   patch("kra", "edit", {"spec": {"plan": None, "assignments": {"t": {"0": [1, 2]}}}}))
    check_refused("approve before there is a plan", patch("kra", "edit", {"spec": {"approvedPlan": HASH_A}}),
                  "not the plan in status.planHash (none yet); read the plan again and approve that one")
    status = {"status": {"observedGeneration": 1, "planHash": HASH_A}}
    check_accepted("write status", patch("kra", "edit", status, status=True))
    check_refused("approve another plan", patch("kra", "edit", {"spec": {"approvedPlan": HASH_B}}),
                  f"spec.approvedPlan: Invalid value: \"object\": not the plan in status.planHash ({HASH_A})")
    check_accepted("approve the plan", patch("kra", "edit", {"spec": {"approvedPlan": HASH_A}}))
    check_accepted("status of another plan", patch("kra", "edit", {"status": {"planHash": HASH_B}}, status=True))
    check_accepted("edit while the approval is old", patch("kra", "edit", {"spec": {"suspend": False}}))
    check_accepted("take the approval back", patch("kra", "edit", {"spec": {"approvedPlan": ""}}))

    scope = "the scope of a cancel cannot change; create a new KafkaReassignmentCancel"
    check_accepted("edit: create cancel", create(make("KafkaReassignmentCancel", "edit", {"reassignments": [{"name": "a"}]})))
    check_refused("cancel: more names",
                  patch("krac", "edit", {"spec": {"reassignments": [{"name": "a"}, {"name": "b"}]}}), scope)
    check_refused("cancel: from names to all", patch("krac", "edit", {"spec": {"reassignments": None, "all": True}}), scope)
    check_refused("cancel: another cluster", patch("krac", "edit", {"spec": {"clusterRef": {"name": "other"}}}),
                  "create a new KafkaReassignmentCancel")
    check_accepted("cancel: acknowledge",
                   patch("krac", "edit", {"spec": {"acknowledgeForeign": True, "reason": "seen"}}))
    check_accepted("cancel: create by partitions",
                   create(make("KafkaReassignmentCancel", "edit-p", {"partitions": [{"topic": "t", "partitions": [0]}]})))
    check_refused("cancel: more partitions",
                  patch("krac", "edit-p", {"spec": {"partitions": [{"topic": "t", "partitions": [0, 1]}]}}), scope)
    delete("kra/edit", "krac/edit", "krac/edit-p")


def defaults():
    rc, out, text = kubectl("create", "--dry-run=server", "-o", "json", "-f", str(HERE / "valid" / "plan-smallest.yaml"))
    if rc != 0:
        report("defaults", text)
        return
    seen = json.loads(out)
    spec = {k: v for k, v in seen["spec"].items() if k not in ("clusterRef", "plan")}
    wanted = {"approval": "Automatic", "attempt": 0, "conflictPolicy": "Wait", "deletionPolicy": "Orphan", "dryRun": False,
              "healthGate": True, "maxInFlight": 100, "maxInFlightPerBroker": 0, "stallAfter": "30m", "suspend": False}
    report("defaults of the spec", None if spec == wanted else f"{spec}, not {wanted}")
    for name in ("plan-smallest", "cancel-all"):
        _, out, text = kubectl("create", "--dry-run=server", "-o", "json", "-f", str(HERE / "valid" / f"{name}.yaml"))
        status = json.loads(out).get("status", {}) if out else {}
        conditions = [(c["type"], c["status"], c["reason"]) for c in status.get("conditions", [])]
        good = (status.get("observedGeneration") == -1 and
                conditions == [("Reconciling", "Unknown", "Pending"), ("Ready", "Unknown", "Pending")])
        report(f"default status of {name}", None if good else f"{status} {text[:200]}")


def big_status(conditions=8):
    time = "2026-12-01T06:00:00Z"
    ids = ",".join(str(10000 + i) for i in range(16))
    return {"status": {
        "observedGeneration": 1, "phase": "Running", "summary": "s" * 1024, "planHash": HASH_A,
        "progress": {"display": "1/20000 (0%)", "total": 20000, "waiting": 19000, "inFlight": 999, "completed": 1,
                     "restored": 0, "failed": 0, "bytesMoved": 1, "bytesTotal": 2 ** 50},
        "startTime": time, "lastProgressTime": time, "eta": {"low": time, "high": time},
        "requests": [{"name": f"request_{i:010d}", "czxid": f"0x{i:x}", "partitions": 5000, "done": False}
                     for i in range(20)],
        "problemPartitions": [{"topic": "t" * 30, "partition": i, "current": ids, "target": ids, "originals": ids,
                               "isr": ids, "reason": "TargetBrokerDown", "ifCancelled": "refused (NoOriginalInSync)"}
                              for i in range(50)],
        "tree": {"kind": "shared", "controller": "c-0", "driver": "admin-api", "lastSyncTime": time},
        "conditions": [{"type": f"Type{i}", "status": "True", "reason": "TargetBrokerDown", "message": "m" * 400,
                        "observedGeneration": 1, "lastTransitionTime": time} for i in range(conditions)]}}


def entries(count, topic, replicas, **more):
    return [{"topic": topic(i), "partition": i, "replicas": replicas(i), **more} for i in range(count)]


def around(n):
    return lambda i: [(i + k) % 1000 for k in range(n)]


def largest():
    short = lambda i: f"t{i % 50}"
    long = lambda i: f"{i:06d}" + "x" * 243
    plans = {
        "list-20000": {"plan": {"partitions": entries(20000, short, around(3))}},
        "list-10000-rf16": {"plan": {"partitions": entries(10000, short, around(16))}},
        "list-3500-long": {"plan": {"partitions": entries(3500, long, around(5))}},
        "list-8000-dirs": {"plan": {"partitions": entries(8000, short, around(3), log_dirs=["any"] * 3)}},
        "map-2000x20": {"assignments": {f"topic-number-{t:04d}": {str(p): around(3)(t + p) for p in range(20)}
                                        for t in range(2000)}},
        "map-60x550": {"assignments": {f"topic-{t}": {str(p): around(5)(t + p) for p in range(550)} for t in range(60)}},
        "map-2000x20-long": {"assignments": {f"{t:06d}" + "x" * 243: {str(p): [1, 2] for p in range(20)}
                                             for t in range(2000)}},
    }
    for name, spec in plans.items():
        delete(f"kra/{name}")
        if not check_accepted(f"largest {name}: create", create(make("KafkaReassignment", name, spec))):
            continue
        check_accepted(f"largest {name}: edit", patch("kra", name, {"spec": {"suspend": True, "attempt": 1}}))
        if "plan" in spec:
            swap = [{"op": "replace", "path": "/spec/plan/partitions/7/replicas", "value": [5, 4, 3]}]
            if name.endswith("dirs"):
                swap.append({"op": "remove", "path": "/spec/plan/partitions/7/log_dirs"})
            check_accepted(f"largest {name}: edit the plan", patch("kra", name, swap, form="json"))
        check_accepted(f"largest {name}: status", patch("kra", name, big_status(), status=True))
        check_accepted(f"largest {name}: approve", patch("kra", name, {"spec": {"approvedPlan": HASH_A}}))
        delete(f"kra/{name}")
    cancels = {
        "names-1000": {"reassignments": [{"name": f"{i:06d}" + "n" * 247} for i in range(1000)]},
        "topics-2000": {"partitions": [{"topic": f"{t:06d}" + "x" * 243, "partitions": list(range(60))}
                                       for t in range(2000)]},
        "partitions-20000": {"partitions": [{"topic": f"t{t}", "partitions": list(range(20000))} for t in range(8)]},
    }
    for name, spec in cancels.items():
        delete(f"krac/{name}")
        if not check_accepted(f"largest {name}: create", create(make("KafkaReassignmentCancel", name, spec))):
            continue
        check_accepted(f"largest {name}: edit", patch("krac", name, {"spec": {"reason": "w" * 256}}))
        status = {"status": {k: v for k, v in big_status()["status"].items()
                             if k in ("observedGeneration", "phase", "summary", "problemPartitions", "conditions")}}
        status["status"]["preview"] = {"restorable": 1, "notRestorable": 2, "foreign": 3}
        status["status"]["progress"] = {k: 1 for k in ("affected", "restored", "withdrawn", "completedFirst", "refused",
                                                       "foreign")}
        status["status"]["lock"] = {"path": "/kafka/admin/reassign_cancel", "czxid": "0x1f", "owner": "kube-1"}
        check_accepted(f"largest {name}: status", patch("krac", name, status, status=True))
        delete(f"krac/{name}")
    many = make("KafkaReassignment", "too-many", {"plan": {"partitions": entries(20001, short, around(1))}})
    check_refused("20,001 entries", create(many), "spec.plan.partitions: Too many: 20001: must have at most 20000 items")


def columns():
    """The headings that the server prints, in order, for both kinds."""
    wanted = {
        "kra": "NAME CLUSTER PHASE PROGRESS STALLED LAST-MOVE STARTED REASON READY IN-FLIGHT WHY MESSAGE",
        "krac": "NAME CLUSTER SCOPE PHASE AFFECTED RESTORED REFUSED AGE REASON READY WHY MESSAGE",
    }
    create(make("KafkaReassignment", "columns", {"rollbackOf": {"name": "other"}}))
    create(make("KafkaReassignmentCancel", "columns", {"all": True}))
    for kind, heading in wanted.items():
        _, out, text = kubectl("get", kind, "columns", "-o", "wide")
        seen = " ".join(out.splitlines()[0].split()) if out else text
        report(f"columns of {kind}", None if seen == heading else f"{seen}, not {heading}")
    delete("kra/columns", "krac/columns")


def fields_kept():
    """A status field that the schema does not know is dropped without a word: everything of big_status must stay."""
    create(make("KafkaReassignment", "kept", {"rollbackOf": {"name": "other"}}))
    sent = big_status()
    check_accepted("status with every field", patch("kra", "kept", sent, status=True))
    _, out, text = kubectl("get", "kra", "kept", "-o", "json")
    seen = json.loads(out).get("status") if out else text
    report("every status field is kept", None if seen == sent["status"] else f"sent and kept differ: {seen}"[:1500])
    delete("kra/kept")


def main():
    rc, _, text = kubectl("get", "crd", "kafkareassignments.kafka-reassignment.io",
                          "kafkareassignmentcancels.kafka-reassignment.io")
    if rc != 0:
        sys.exit(f"crds: the API server of $KUBECONFIG does not have our CRDs; apply crds/ first.\n{text.strip()}")
    kubectl("create", "namespace", NAMESPACE)
    delete("kra,krac", "--all")
    files()
    defaults()
    edits()
    columns()
    fields_kept()
    largest()
    print(f"{results['passed']} passed, {results['failed']} failed")
    sys.exit(1 if results["failed"] else 0)


if __name__ == "__main__":
    main()
