#!/usr/bin/env python3
"""Checks the documents: nothing in them points at what does not exist.

usage: check_links.py [ROOT]

Every relative link of every .md file names a file or folder of the checkout, and its #anchor a heading there. Every
file of the checkout that is named in backticks with a path exists. Every reason of operator/api/reasons.h, and every
alert of the chart, has its paragraph in docs/runbook.md, and the runbook has no paragraph on anything else. Every ADR
has its four parts, and docs/adr has no gap in its numbers. Every manifest of docs/examples is named in its README.
Before that, small trees with one fault each show that every check can fail.
The last line is "N passed, N failed"; exit status 1 if any failed.
"""

import pathlib
import re
import sys
import tempfile
import urllib.parse

SKIPPED = {".git", "build", ".stack", ".cache", "node_modules"}
TOP_LEVEL = ("operator/", "hack/", "tests/", "crds/", "charts/", "docs/", "cmake/", ".ci/")
ADR_PARTS = ("Context", "Decision", "Consequences", "What would change our mind")


def without_code(text):
    """The text without fenced blocks and code spans; lines are kept."""
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)


def headings(text):
    """(level, title) of each heading outside of fenced blocks."""
    plain = re.sub(r"^(```|~~~).*?^\1[^\n]*$", "", text, flags=re.S | re.M)
    return [(len(m.group(1)), m.group(2)) for m in re.finditer(r"^(#{1,6})\s+(.*?)\s*#*\s*$", plain, flags=re.M)]


def slug(title):
    """The anchor that GitHub makes of a heading."""
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    title = re.sub(r"<[^>]+>", "", title).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def anchors(text):
    out, seen = set(), {}
    for _, title in headings(text):
        base = slug(title)
        n = seen.get(base, 0)
        seen[base] = n + 1
        out.add(base if n == 0 else f"{base}-{n}")
    out.update(re.findall(r"<a\s+(?:id|name)=\"([^\"]+)\"", text))
    return out


class Checker:
    def __init__(self, root):
        self.root = root
        self.passed = 0
        self.failures = []
        self.texts = {}
        for path in sorted(root.rglob("*.md")):
            if not SKIPPED & set(path.relative_to(root).parts):
                self.texts[path] = path.read_text(encoding="utf-8")

    def check(self, good, where, what):
        if good:
            self.passed += 1
        else:
            self.failures.append(f"{where}: {what}")

    def rel(self, path):
        return path.relative_to(self.root).as_posix()

    def link(self, path, line, target):
        where = f"{self.rel(path)}:{line}"
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            self.check(target.startswith(("https://", "mailto:")), where, f"{target}: use https, or a relative path")
            return
        name, _, anchor = target.partition("#")
        file = path if not name else path.parent / urllib.parse.unquote(name)
        inside = self.root in file.resolve().parents or file.resolve() == self.root
        self.check(inside and file.exists(), where, f"{target} does not exist")
        if anchor and file.exists() and file.suffix == ".md":
            text = self.texts.get(file.resolve()) or file.read_text(encoding="utf-8")
            self.check(anchor in anchors(text), where, f"{target}: no such heading there")

    def links(self):
        for path, text in self.texts.items():
            for number, line in enumerate(without_code(text).split("\n"), 1):
                found = re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", line)
                found += re.findall(r"^\s*\[[^\]]+\]:\s*(\S+)", line)
                for target in found:
                    self.link(path, number, target)

    def named_files(self):
        for path, text in self.texts.items():
            for number, line in enumerate(text.split("\n"), 1):
                for name in re.findall(r"`([^`\s]+)`", line):
                    if not name.startswith(TOP_LEVEL) or re.search(r"[*<>{}…$|]|NNNN", name):
                        continue
                    name = name.split("#")[0].rstrip(".,:;")
                    self.check((self.root / name).exists(), f"{self.rel(path)}:{number}", f"`{name}` does not exist")

    def runbook(self):
        runbook = self.root / "docs" / "runbook.md"
        text = self.texts.get(runbook, "")
        have = anchors(text)
        source = (self.root / "operator" / "api" / "reasons.h").read_text(encoding="utf-8")
        table = re.search(r"#define KRO_REASONS\(X\)(.*?)\n// clang-format on", source, flags=re.S)
        reasons = re.findall(r"\bX\((\w+)\)", table.group(1)) if table else []
        self.check(len(reasons) > 20, "operator/api/reasons.h", "the table of reasons was not found")
        for reason in reasons:
            self.check(reason.lower() in have, "docs/runbook.md", f"no paragraph on the reason {reason}")
        alerts = set()
        for rule in sorted((self.root / "charts").rglob("prometheusrule*.yaml")):
            content = rule.read_text(encoding="utf-8")
            alerts.update(re.findall(r"alert:\s*(\w+)", content))
            for anchor in re.findall(r"runbook_url:.*#(\w+)\s*$", content, flags=re.M):
                self.check(anchor in have, self.rel(rule), f"runbook_url ends in #{anchor}, which is not in the runbook")
        for alert in sorted(alerts):
            self.check(alert.lower() in have, "docs/runbook.md", f"no paragraph on the alert {alert}")
        for level, title in headings(text):
            if level == 3:
                self.check(title in set(reasons) | alerts, "docs/runbook.md", f"{title} is neither a reason nor an alert")

    def adrs(self):
        numbers = []
        for path, text in self.texts.items():
            match = re.fullmatch(r"docs/adr/(\d{4})-[a-z0-9-]+\.md", self.rel(path))
            if not match:
                continue
            numbers.append(int(match.group(1)))
            titles = [title for _, title in headings(text)]
            for part in ADR_PARTS:
                self.check(part in titles, self.rel(path), f"has no part “{part}”")
        self.check(numbers == list(range(1, len(numbers) + 1)), "docs/adr", f"numbers are not 1, 2, 3 …: {numbers}")

    def examples(self):
        folder = self.root / "docs" / "examples"
        text = self.texts.get(folder / "README.md", "")
        for path in sorted(folder.glob("*.yaml")):
            self.check(path.name in text, "docs/examples/README.md", f"says nothing of {path.name}")


    def run(self):
        for part in (self.links, self.named_files, self.runbook, self.adrs, self.examples):
            part()
        return self


REASONS = [f"Reason{n}" for n in range(30)]
SOUND = {
    "operator/api/reasons.h": "#define KRO_REASONS(X) \\\n  " + " ".join(f"X({r})" for r in REASONS) + "\n// clang-format on\n",
    "charts/c/templates/prometheusrule.yaml": "- alert: Late\n  runbook_url: base#Late\n",
    "docs/runbook.md": "# Runbook\n## How\n" + "".join(f"### {r}\n" for r in REASONS) + "### Late\n<a id=\"Late\"></a>\n",
    "docs/adr/0001-a.md": "# 0001: A\n## Context\n## Decision\n## Consequences\n## What would change our mind\n",
    "docs/examples/README.md": "[a](a.yaml), `docs/runbook.md`, [r](../runbook.md#reason1), ```[x](nowhere)``` `[y](nowhere)`\n",
    "docs/examples/a.yaml": "kind: A\n",
    "README.md": "# Title\n[down](#two-words-and-code)\n```\n# no heading\n[z](nowhere)\n```\n## Two words, and `code`\n",
}
FAULTS = [
    ("nowhere.md does not exist", {"README.md": "[a](nowhere.md)"}),
    ("nowhere.md does not exist", {"README.md": "[a]: nowhere.md"}),
    ("../outside.md does not exist", {"README.md": "[a](../outside.md)"}),
    ("no such heading", {"README.md": "[a](docs/runbook.md#reason99)"}),
    ("no such heading", {"README.md": "[a](#no-heading)\n```\n# no heading\n```\n"}),
    ("use https", {"README.md": "[a](http://example.org)"}),
    ("`hack/none.sh` does not exist", {"README.md": "`hack/none.sh`"}),
    ("no paragraph on the reason Reason7", {"docs/runbook.md": SOUND["docs/runbook.md"].replace("### Reason7\n", "")}),
    ("is neither a reason nor an alert", {"docs/runbook.md": SOUND["docs/runbook.md"] + "### Other\n"}),
    ("the table of reasons", {"operator/api/reasons.h": ""}),
    ("no paragraph on the alert Early", {"charts/c/templates/prometheusrule.yaml": "- alert: Early\n"}),
    ("which is not in the runbook", {"charts/c/templates/prometheusrule.yaml": "  runbook_url: base#Early\n"}),
    ("has no part “Decision”", {"docs/adr/0001-a.md": SOUND["docs/adr/0001-a.md"].replace("## Decision", "")}),
    ("numbers are not", {"docs/adr/0003-b.md": SOUND["docs/adr/0001-a.md"]}),
    ("says nothing of b.yaml", {"docs/examples/b.yaml": ""}),
]


def found_in(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Checker(pathlib.Path(folder).resolve()).run().failures


def self_test():
    """(passed, texts of failures)"""
    failures = [f"self-test: a sound tree: {text}" for text in found_in(SOUND)]
    for expected, change in FAULTS:
        found = found_in({**SOUND, **change})
        if not any(expected in text for text in found):
            failures.append(f"self-test: {list(change)} should give “{expected}”, but gives {found}")
    return len(FAULTS) + 1 - len(failures), failures


def main(args):
    root = pathlib.Path(args[0] if args else pathlib.Path(__file__).parent.parent.parent).resolve()
    proven, failures = self_test()
    checker = Checker(root).run()
    failures += checker.failures
    for failure in failures:
        print(failure)
    print(f"{checker.passed + proven} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
