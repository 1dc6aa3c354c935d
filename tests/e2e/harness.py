"""What the end-to-end tests stand on: kubectl, the tree, Kafka's own tools, and our two executables as processes.

Everything is real and was started by hack/stack.sh, whose environment is read. Tests wait for conditions with generous
limits and never sleep for a fixed time instead.
"""

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
STACK = os.path.join(ROOT, "hack", "stack.sh")
TREE_TOOL = os.path.join(ROOT, "build", "dev", "bin", "tree-tool")
LOGS = os.path.join(ROOT, "build", "test-logs", "e2e")
GROUP = "kafka-reassignment.io/v1alpha1"
LIMIT = 120  # seconds for a condition on a busy machine


class Failure(AssertionError):
    pass


def check(condition, text):
    if not condition:
        raise Failure(text)


def run(*words, input=None, ok=True, timeout=180, env=None):
    done = subprocess.run(words, input=input, capture_output=True, text=True, timeout=timeout, env=env)
    if ok and done.returncode != 0:
        raise Failure(f"{' '.join(words)[:200]}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done


def wait_for(what, probe, limit=LIMIT, pause=0.1):
    """Until probe() is true; its value. `what` is what stands in the failure, with the last value that was seen."""
    end = time.monotonic() + limit
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"not within {limit} s: {what}")
        time.sleep(pause)


# ---- Kubernetes -----------------------------------------------------------------------------------------------------

def kubectl(*words, input=None, ok=True, env=None):
    return run("kubectl", *words, input=input, ok=ok, env=env)


def kra(name, spec, namespace="default"):
    spec.setdefault("clusterRef", {"name": "local"})
    return {"apiVersion": GROUP, "kind": "KafkaReassignment",
            "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def krac(name, spec, namespace="default"):
    spec.setdefault("clusterRef", {"name": "local"})
    return {"apiVersion": GROUP, "kind": "KafkaReassignmentCancel",
            "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def apply(obj, ok=True, server_side=True):
    how = ["--server-side", "--force-conflicts"] if server_side else []
    return kubectl("apply", *how, "-f", "-", input=json.dumps(obj), ok=ok)


def get(kind, name, namespace="default"):
    done = kubectl("get", kind, name, "-n", namespace, "-o", "json", ok=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def status(kind, name, namespace="default"):
    obj = get(kind, name, namespace)
    return (obj or {}).get("status", {})


def condition(kind, name, type_, namespace="default"):
    for c in status(kind, name, namespace).get("conditions", []):
        if c["type"] == type_:
            return c
    return {}


def wait_phase(kind, name, *phases, limit=LIMIT, namespace="default"):
    seen = {}

    def probe():
        seen.update(status(kind, name, namespace))
        return seen.get("phase") in phases
    try:
        wait_for(f"{kind}/{name} in {phases}", probe, limit, 0.2)
    except Failure as f:
        raise Failure(f"{f}; it is {seen.get('phase')}: {seen.get('summary')}\n"
                      f"{json.dumps(seen.get('conditions'), indent=1)[:3000]}")
    return seen


def wait_reason(kind, name, reason, limit=LIMIT):
    return wait_for(f"{kind}/{name} Ready with reason {reason}; it is {condition(kind, name, 'Ready')}",
                    lambda: condition(kind, name, "Ready").get("reason") == reason, limit, 0.2)


def delete(kind, name):
    kubectl("delete", kind, name, "--ignore-not-found", "--wait=true", "--timeout=60s")


CHART = os.path.join(ROOT, "charts", "kafka-reassignment-operator")


def chart_kubeconfig():
    """A kubeconfig with the token of a service account that has exactly what the chart gives the operator."""
    helm = run(STACK, "tool", "helm", timeout=1800).stdout.strip().splitlines()[-1]
    text = run(helm, "template", "e2e", CHART, "-n", "default", "--kube-version", "1.34.0", "--set", "operatorId=local",
               "-s", "templates/rbac.yaml", "-s", "templates/specguard.yaml").stdout
    kubectl("apply", "-f", "-", input=text)
    account = re.search(r"kind: ServiceAccount\nmetadata:\n  name: (\S+)", text).group(1)
    token = kubectl("create", "token", account, "-n", "default", "--duration", "24h").stdout.strip()
    config = json.loads(kubectl("config", "view", "--raw", "-o", "json").stdout)
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    return temp_file(json.dumps(config), ".kubeconfig")


# ---- the tree -------------------------------------------------------------------------------------------------------

class Tree:
    """One session of tree-tool."""

    def __init__(self, address):
        self.process = subprocess.Popen([TREE_TOOL, address, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def dump(self, path="/admin"):
        answer = self.ask("dump", path)
        if isinstance(answer, dict):
            raise Failure(f"dump {path}: {answer}")
        return {node["path"]: node for node in answer}

    def requests(self):
        return [p for p in self.dump("/admin/reassignment_requests") if "request_" in p]

    def markers(self):
        return [p for p in self.dump("/admin/reassignment_ledger") if re.search(r"/\d+-\d+$", p)]

    def in_flight(self):
        return [p for p in self.dump("/admin/reassignments") if p.count("/") == 4]

    def results(self):
        return {p.rsplit("/", 1)[1]: json.loads(n["data"]) for p, n in self.dump("/admin/reassignment_results").items()
                if p.count("/") == 3}

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


# ---- Kafka ----------------------------------------------------------------------------------------------------------

def kafka(*words, ok=True):
    return run(STACK, "kafka", *words, ok=ok).stdout


def create_topic(name, assignment):
    """assignment: one replica list a partition. A topic of that name, left by an earlier run, goes first."""
    text = ",".join(":".join(map(str, replicas)) for replicas in assignment)

    def create():
        if run(STACK, "kafka", "topics", "--create", "--topic", name, "--replica-assignment", text, ok=False).returncode == 0:
            return True
        delete_topic(name)
        return False
    wait_for(f"topic {name} is created", create, 60, 1)


def produce(topic, records, size=1000):
    kafka("producer-perf", "--topic", topic, "--num-records", str(records), "--record-size", str(size),
          "--throughput", "-1")


def replicas(topic):
    """partition → replica list, as Kafka's own tool prints it."""
    out = {}
    for line in kafka("topics", "--describe", "--topic", topic).splitlines():
        m = re.search(r"Partition: (\d+)\s.*Replicas: ([\d,]+)", line)
        if m:
            out[int(m.group(1))] = [int(x) for x in m.group(2).split(",")]
    return out


def zookeeper_back():
    """Starts ZooKeeper again. Brokers whose sessions ended meanwhile sometimes stay out of every ISR until they are
    started anew, which is Kafka's affair and not what these tests are about."""
    run(STACK, "zookeeper-start")
    for broker in "123":
        run(STACK, "restart-broker", broker)
    wait_for("no partition is under-replicated",
             lambda: "Partition:" not in kafka("topics", "--describe", "--under-replicated-partitions"), 120, 1)


def delete_topic(name):
    run(STACK, "kafka", "topics", "--delete", "--topic", name, ok=False)


class Throttled:
    """Kafka's own throttle on every broker and one topic, for moves that must not finish by themselves."""

    def __init__(self, topic, rate=20000):
        self.topic, self.rate = topic, rate

    def __enter__(self):
        for broker in "123":
            kafka("configs", "--alter", "--entity-type", "brokers", "--entity-name", broker, "--add-config",
                  f"leader.replication.throttled.rate={self.rate},follower.replication.throttled.rate={self.rate}")
        kafka("configs", "--alter", "--entity-type", "topics", "--entity-name", self.topic, "--add-config",
              "leader.replication.throttled.replicas=*,follower.replication.throttled.replicas=*")
        return self

    def lift(self):
        for broker in "123":
            run(STACK, "kafka", "configs", "--alter", "--entity-type", "brokers", "--entity-name", broker,
                "--delete-config", "leader.replication.throttled.rate,follower.replication.throttled.rate", ok=False)

    def __exit__(self, *_):
        self.lift()


# ---- our executables ------------------------------------------------------------------------------------------------

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class App:
    """One of our executables as a process; kill() is SIGKILL."""

    def __init__(self, name, *words, env=None):
        self.name, self.words, self.env = name, words, env
        self.process = None
        self.port = free_port()

    def start(self, wait=True):
        os.makedirs(LOGS, exist_ok=True)
        self.log = open(os.path.join(LOGS, f"{self.name}.log"), "a")
        path = os.path.join(os.environ["KRO_BIN"], self.name)
        self.process = subprocess.Popen([path, *self.words, "--listen", f"127.0.0.1:{self.port}"],
                                        stdout=self.log, stderr=self.log, env=self.env)
        if wait:
            wait_for(f"{self.name} answers /livez", self.alive)
        return self

    def fetch(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()
        except OSError:
            return 0, ""

    def alive(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended with {self.process.returncode}; see {self.log.name}")
        return self.fetch("/livez")[0] == 200

    def ready(self):
        return self.fetch("/readyz")[0] == 200

    def metrics(self):
        return self.fetch("/metrics")[1]

    def metric(self, series):
        """The value of a series given by its exact text, as in name{a="b"}; None when it is not there."""
        for line in self.metrics().splitlines():
            if line.startswith(series + " "):
                return float(line.rsplit(" ", 1)[1])
        return None

    def rss_mib(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, limit=60):
        if self.process is None or self.process.poll() is not None:
            return None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=limit)


def operator(config=None, kubeconfig=None, *more):
    return App("kafka-reassignment-operator", "--config", config or os.environ["KRO_OPERATOR_CONFIG"],
               "--kubeconfig", kubeconfig or os.environ["KUBECONFIG"], *more)


def controller(*more):
    return App("kafka-reassignment-controller", "--zookeeper", os.environ["KRO_ZOOKEEPER"], "--bootstrap-server",
               os.environ["KRO_BOOTSTRAP"], "--cluster-name", "local", *more)


def temp_file(text, suffix=".yaml"):
    handle, path = tempfile.mkstemp(suffix=suffix)
    with os.fdopen(handle, "w") as f:
        f.write(text)
    return path
