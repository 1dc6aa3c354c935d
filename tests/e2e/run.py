#!/usr/bin/env python3
"""End-to-end tests: real API server, ZooKeeper, Kafka and our executables.

usage: run.py [--full] [NAME…]    NAME is a part of a test's name; --full also runs the large ones

Needs the environment of hack/stack.sh (eval "$(hack/stack.sh env)"). The last line is "N passed, N failed".
"""

import importlib
import os
import signal
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

MODULES = ["test_move", "test_refusals", "test_cancel", "test_outages", "test_kills", "test_rbac", "test_load"]


def tests(full):
    for module in MODULES:
        if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), module + ".py")):
            continue
        loaded = importlib.import_module(module)
        for name in [n for n in dir(loaded) if n.startswith("test_")]:
            function = getattr(loaded, name)
            if callable(function) and (full or not getattr(function, "large", False)):
                yield f"{module[5:]}.{name[5:]}", function


class World:
    """The operator and controller that most tests share, and one session to the tree."""

    def __init__(self):
        self.tree = harness.Tree(os.environ["KRO_ZOOKEEPER"])
        # The operator never has more rights than the chart gives it.
        self.kubeconfig = harness.chart_kubeconfig()
        self.operator = harness.operator(kubeconfig=self.kubeconfig)
        self.controller = harness.controller()

    def make_whole(self):
        """Both executables run; no resource, lock or throttle is left of an earlier test."""
        for app in (self.operator, self.controller):
            if app.process is None or app.process.poll() is not None:
                app.start()
        harness.kubectl("delete", "krac", "--all", "--wait=true", "--timeout=60s")
        # All at once: kubectl would ask for each of a thousand by itself.
        harness.kubectl("delete", "--raw", f"/apis/{harness.GROUP}/namespaces/default/kafkareassignments")
        self.tree.ask("delete", "/admin/reassign_cancel")
        # Small brokers hold a few thousand partitions: what earlier tests left goes.
        harness.run(harness.STACK, "kafka", "topics", "--delete", "--if-exists", "--topic", "e2e-.*", ok=False)
        harness.wait_for("the operator is ready", self.operator.ready)

    def close(self):
        for app in (self.operator, self.controller):
            app.stop()
        self.tree.close()


def main():
    words = sys.argv[1:]
    full = "--full" in words
    wanted = [w for w in words if not w.startswith("--")]
    passed = failed = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    world = World()
    try:
        for name, function in tests(full):
            if wanted and not any(w in name for w in wanted):
                continue
            began = time.monotonic()
            try:
                world.make_whole()
                function(world)
                passed += 1
                print(f"ok   {name} ({time.monotonic() - began:.1f} s)", flush=True)
            except Exception as e:  # noqa: BLE001 - a test may fail in any way; the next one runs all the same
                failed += 1
                text = str(e) if isinstance(e, harness.Failure) else traceback.format_exc()
                print(f"FAIL {name} ({time.monotonic() - began:.1f} s)\n{text}", flush=True)
    finally:
        world.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
