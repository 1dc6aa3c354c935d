"""Rights of the chart, and leader election between two operators."""

from harness import check, create_topic, apply, kra, kubectl, operator, replicas, run, wait_for, wait_phase

MASTER = 'leader_election_master_status{name="kafka-reassignment-operator"}'


def test_operator_cannot_do_more_than_the_chart_says(world):
    def may(verb, what):
        return run("kubectl", "--kubeconfig", world.kubeconfig, "auth", "can-i", verb, what, ok=False).stdout.strip()
    for verb, what in [("get", "secrets"), ("create", "kafkareassignments.kafka-reassignment.io"), ("list", "pods"),
                       ("delete", "kafkareassignments.kafka-reassignment.io"), ("delete", "leases.coordination.k8s.io")]:
        check(may(verb, what) == "no", f"the operator may {verb} {what}")
    check(may("patch", "kafkareassignments.kafka-reassignment.io/status") == "yes", "status")


def test_one_of_two_operators_leads_and_the_other_takes_over(world):
    create_topic("e2e-lead", [[1, 2]] * 2)
    world.operator.stop()
    elect = ("--leader-elect", "--lease-namespace", "default")
    pair = [operator(None, world.kubeconfig, *elect).start() for _ in range(2)]
    try:
        leads = wait_for("one leads", lambda: [a for a in pair if a.metric(MASTER) == 1])
        check(len(leads) == 1, "both lead")
        apply(kra("lead", {"assignments": {"e2e-lead": {"0": [2, 3]}}}))
        wait_phase("kra", "lead", "Succeeded")
        check(leads[0].stop(limit=30) == 0, "exit status")
        (other,) = [a for a in pair if a is not leads[0]]
        wait_for("the other leads", lambda: other.metric(MASTER) == 1)
        apply(kra("lead2", {"assignments": {"e2e-lead": {"1": [2, 3]}}}))
        wait_phase("kra", "lead2", "Succeeded")
        check(replicas("e2e-lead") == {0: [2, 3], 1: [2, 3]}, str(replicas("e2e-lead")))
    finally:
        for app in pair:
            app.stop()
        kubectl("delete", "lease", "kafka-reassignment-operator", "-n", "default", "--ignore-not-found")
