#!/usr/bin/env python3
"""Checks that code stays in its layer.

Reads operator/**/*.{h,cc} below the root (default: this checkout) and prints one line a violation, with what to do
instead. Exit code 1 if there is any. `--self-test` proves on small trees that every rule can fail.
"""
import pathlib
import re
import sys
import tempfile

# What a folder may include, besides itself. Downwards only.
BELOW = {
    "base": [],
    "domain": ["base"],
    "tree": ["base", "domain"],
    "api": ["base", "domain", "tree"],
    "ports": ["base", "domain"],
    "decide": ["base", "domain", "tree", "api", "ports"],
    "runtime": ["base", "ports"],
    "admin": ["base", "domain", "tree", "ports", "decide", "runtime"],
    "reconcile": ["base", "domain", "tree", "api", "ports", "decide", "runtime", "admin"],
    "execute": ["base", "domain", "tree", "ports", "decide", "runtime"],
    "adapters": ["base", "domain", "tree", "ports", "runtime"],
    "app": ["base", "domain", "tree", "api", "ports", "decide", "runtime", "admin", "reconcile", "execute", "adapters"],
}
PURE = ["base", "domain", "tree", "api", "ports", "decide"]

# First part of a third-party include -> folders that may have it. In .cc files and private *_impl.h only.
THIRD_PARTY = {
    "cpprest": ["adapters/kube"],
    "pplx": ["adapters/kube"],
    "zookeeper": ["adapters/zookeeper"],
    "prometheus": ["adapters/metrics"],
    "httplib.h": ["adapters/metrics"],
    "spdlog": ["adapters/log"],
    "fmt": ["adapters/log"],
    "boost": ["adapters/kafka", "adapters/kube"],
    "openssl": ["adapters/kafka", "adapters/kube"],
    "sasl": ["adapters/kafka", "adapters/zookeeper"],
    "yaml-cpp": ["app", "adapters/kube"],
    "CLI": ["app"],
    "nlohmann": ["tree", "api", "decide", "runtime", "admin", "reconcile", "execute", "adapters", "app"],
}
# Headers that have nlohmann's full type in them, each with its reason.
JSON_HEADERS = {
    "tree/strict_json.h": "the one reader of foreign JSON hands out nlohmann values to the codecs beside it",
}
ONE_FILE = {"zookeeper": "adapters/zookeeper", ".then(": "adapters/kube"}

# In PURE folders: pattern -> what it is.
IMPURE = [
    (r"^\s*#\s*include\s*<(fstream|iostream|filesystem|syncstream|unistd\.h|fcntl\.h|poll\.h|netdb\.h|sys/[^>]*|netinet/[^>]*|arpa/[^>]*)>", "I/O"),
    (r"\b(?<!n)(?:f|v|vf)?printf\s*\(|\bf(?:open|read|write|puts)\s*\(|\bstd::c(?:out|err|log|in)\b|\bgetenv\s*\(|\bsystem\s*\(", "I/O"),
    (r"_clock::now\s*\(|\bgettimeofday\s*\(|\bclock_gettime\s*\(|(?<![\w.>:])time\s*\(\s*(?:nullptr|NULL|0|&)", "clock"),
    (r"^\s*#\s*include\s*<(thread|condition_variable|future|semaphore|latch|barrier)>|\bstd::(?:j?thread|async|this_thread|condition_variable)\b", "thread"),
    (r"^\s*#\s*include\s*<(mutex|shared_mutex)>|\bstd::(?:\w*mutex|lock_guard|scoped_lock|unique_lock|once_flag)\b", "mutex"),
    (r"\bthrow\b", "throw"),
]
INSTEAD = {
    "I/O": "put a port in ports/ and do it in an adapter",
    "clock": "take a Now or a WallTime as an argument",
    "thread": "threads are started in runtime/ or app/; take a std::stop_token where a caller waits",
    "mutex": "what is shared between threads lives in runtime/ or in an adapter; be pure here",
    "throw": "return a Result<T> (base/result.h), or KRO_ASSERT for a broken invariant",
}
# The end of the process may be told on stderr.
IMPURE_ALLOWED = {("base/assert.cc", "I/O")}
POSIX = re.compile(r"^(unistd|fcntl|poll|netdb|signal|dlfcn|link|pthread|ifaddrs|malloc|dirent|errno|string|stdio|stdlib|time)\.h$|^(sys|netinet|arpa|net|linux)/")
RULES = ["upwards", "sibling-adapter", "third-party", "third-party-header", "unknown-library", "one-file", "then",
         "json-header", "private-header", "gtest", *INSTEAD]


def stripped(text):
    """The text without comments and without what is inside string and character literals; lines are kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"([^()\s\\]{0,16})\(.*?\)\1"|(#\s*include\s*[<"][^>"\n]*[>"])|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'',
        re.S)

    def blank(match):
        if match.group(2):
            return match.group(2)
        kept = "".join(c for c in match.group(0) if c == "\n")
        return '""' + kept if match.group(0)[0] in "\"R'" else kept

    return pattern.sub(blank, text)


class Checker:
    def __init__(self, root):
        self.base = root / "operator"
        self.found = []
        self.users = {key: [] for key in ONE_FILE}
        self.files = 0

    def add(self, rule, where, text):
        self.found.append((rule, f"{where}: {text}"))

    def run(self):
        for path in sorted(self.base.rglob("*")):
            if path.suffix in (".h", ".cc"):
                self.files += 1
                self.check(path)
        for key, folder in ONE_FILE.items():
            inside = [f for f in self.users[key] if f.startswith(folder + "/")]
            what = "the ZooKeeper C client" if key == "zookeeper" else "`.then(`"
            for other in inside[1:]:
                self.add("one-file", f"operator/{other}",
                         f"{what} is used by {inside[0]} already; only one file of {folder} may, so go through that one")
        return self

    def check(self, path):
        rel = path.relative_to(self.base).as_posix()
        parts = rel.split("/")
        layer = parts[0]
        folder = "/".join(parts[:2]) if layer == "adapters" and len(parts) > 2 else layer
        if layer not in BELOW:
            self.add("upwards", f"operator/{rel}", f"{layer}/ is no known layer; name it in hack/check-layers.py with what it may include")
            return
        code = stripped(path.read_text(encoding="utf-8"))
        for number, line in enumerate(code.split("\n"), 1):
            where = f"operator/{rel}:{number}"
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if match:
                self.include(where, rel, layer, folder, match.group(1), match.group(2))
            if layer in PURE:
                self.pure(where, rel, layer, line)
            if ".then(" in line:
                if folder != "adapters/kube":
                    self.add("then", where, "no continuations: block on our own thread; only one file of adapters/kube may use .then(")
                elif rel not in self.users[".then("]:
                    self.users[".then("].append(rel)

    def pure(self, where, rel, layer, line):
        for pattern, what in IMPURE:
            if re.search(pattern, line) and (rel, what) not in IMPURE_ALLOWED:
                self.add(what, where, f"no {what} in {layer}/ (it stands below runtime): {INSTEAD[what]}")

    def include(self, where, rel, layer, folder, bracket, name):
        first = name.split("/")[0]
        if bracket == '"' or first in BELOW:
            self.ours(where, rel, layer, folder, name, first)
            return
        if first in ("gtest", "gmock"):
            self.add("gtest", where, "tests live in tests/; nothing of operator/ knows them")
            return
        key = "zookeeper" if re.match(r"zookeeper|zk_", first) else first
        if key in THIRD_PARTY:
            allowed = THIRD_PARTY[key]
            if folder not in allowed and layer not in allowed:
                self.add("third-party", where, f"<{name}> belongs to {', '.join(allowed)} only: add what you need to a port in ports/ and use that")
            elif key == "nlohmann":
                if rel.endswith(".h") and name != "nlohmann/json_fwd.hpp" and not rel.endswith("_impl.h") and rel not in JSON_HEADERS:
                    self.add("json-header", where, f"<{name}> in a header makes everybody pay: include it in the .cc, or <nlohmann/json_fwd.hpp> here; a header that must have it is named with its reason in hack/check-layers.py")
            elif not rel.endswith(".cc") and not rel.endswith("_impl.h"):
                self.add("third-party-header", where, f"<{name}> must not show in a header: include it in the .cc (pimpl), or in a private *_impl.h")
            if key in self.users and rel not in self.users[key]:
                self.users[key].append(rel)
            return
        standard = re.fullmatch(r"[a-z_0-9]+", name) or name == "tl/expected.hpp"
        # runtime/ owns threads, and so may name them.
        posix_here = POSIX.match(name) and (layer in ("adapters", "app") or (layer == "runtime" and name == "pthread.h"))
        if not standard and not posix_here:
            self.add("unknown-library", where, f"<{name}>: not known here; system calls and libraries belong to adapters/, and a new library is named in hack/check-layers.py and docs/dependencies.md")

    def ours(self, where, rel, layer, folder, name, first):
        if first not in BELOW:
            self.add("upwards", where, f'"{name}": includes are written from operator/, as in "base/result.h"')
            return
        target = "/".join(name.split("/")[:2]) if first == "adapters" else first
        if name.endswith("_impl.h") and first == "adapters" and target != folder:
            self.add("private-header", where, f'"{name}" is private to {target}: include its public header')
        if first == layer:
            if layer == "adapters" and target != folder:
                self.add("sibling-adapter", where, f"{folder} must not know {target}: let app/ pass one to the other through a port")
            return
        if first not in BELOW[layer]:
            may = ", ".join(BELOW[layer]) or "nothing of ours"
            self.add("upwards", where, f'{layer}/ may include {may}, not "{name}": move what both need further down, or take it as an argument or a port')


def self_test():
    clean = {
        "base/a.h": '#pragma once\n#include <string>\n// throw std::mutex .then( in a comment\ninline const char* s() { return "throw .then( std::mutex"; }\n',
        "domain/b.cc": '#include "base/a.h"\n#include <algorithm>\nint printf_count(int n) { return snprintf(nullptr, 0, "%d", n); }\n',
        "adapters/kube/c.cc": '#include <cpprest/http_client.h>\nvoid f() { x.then(1); }\n',
        "adapters/os/d.cc": "#include <sys/stat.h>\n#include <unistd.h>\n",
        "runtime/e.h": "#include <mutex>\n#include <thread>\n",
        "tree/f.cc": "#include <nlohmann/json.hpp>\n",
        "tree/f.h": "#include <nlohmann/json_fwd.hpp>\n",
        "adapters/zookeeper/g.cc": "#include <zookeeper/zookeeper.h>\n",
    }
    bad = [
        ("upwards", {"base/a.h": '#include "domain/b.h"\n'}),
        ("upwards", {"decide/a.cc": '#include "runtime/reflector.h"\n'}),
        ("upwards", {"tree/a.h": '#include "api/b.h"\n'}),
        ("upwards", {"runtime/a.h": '#include "domain/topic_partition.h"\n'}),
        ("upwards", {"execute/a.cc": '#include "api/b.h"\n'}),
        ("upwards", {"reconcile/a.cc": '#include "adapters/kube/b.h"\n'}),
        ("upwards", {"adapters/kube/a.cc": '#include "reconcile/b.h"\n'}),
        ("upwards", {"helpers/a.cc": "\n"}),
        ("upwards", {"base/a.cc": '#include "result.h"\n'}),
        ("sibling-adapter", {"adapters/kube/a.cc": '#include "adapters/log/b.h"\n'}),
        ("third-party", {"runtime/a.cc": "#include <spdlog/spdlog.h>\n"}),
        ("third-party", {"adapters/kafka/a.cc": "#include <cpprest/http_client.h>\n"}),
        ("third-party", {"domain/a.cc": "#include <nlohmann/json.hpp>\n"}),
        ("third-party", {"adapters/os/a.cc": "#include <openssl/evp.h>\n"}),
        ("third-party-header", {"adapters/metrics/a.h": "#include <prometheus/registry.h>\n"}),
        ("unknown-library", {"app/a.cc": "#include <absl/strings/str_cat.h>\n"}),
        ("unknown-library", {"runtime/a.cc": "#include <unistd.h>\n"}),
        ("one-file", {"adapters/zookeeper/a.cc": "#include <zookeeper/zookeeper.h>\n", "adapters/zookeeper/b.cc": "#include <zookeeper/zookeeper.h>\n"}),
        ("one-file", {"adapters/kube/a.cc": "int a = x.then(1);\n", "adapters/kube/b.cc": "int b = x.then(1);\n"}),
        ("then", {"reconcile/a.cc": "int a = x.then(1);\n"}),
        ("json-header", {"api/a.h": "#include <nlohmann/json.hpp>\n"}),
        ("private-header", {"app/a.cc": '#include "adapters/kube/b_impl.h"\n'}),
        ("gtest", {"base/a.cc": "#include <gtest/gtest.h>\n"}),
        ("I/O", {"tree/a.cc": "#include <fstream>\n"}),
        ("I/O", {"decide/a.cc": 'void f() { std::fprintf(stderr, "x"); }\n'}),
        ("I/O", {"api/a.cc": 'auto v = std::getenv("HOME");\n'}),
        ("clock", {"decide/a.cc": "auto t = std::chrono::system_clock::now();\n"}),
        ("thread", {"ports/a.h": "std::jthread t;\n"}),
        ("mutex", {"domain/a.cc": "std::mutex m;\n"}),
        ("throw", {"tree/a.cc": "void f() { throw 1; }\n"}),
    ]

    def run(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / "operator" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return {rule for rule, _ in Checker(pathlib.Path(folder)).run().found}

    failed = 0
    if run(clean):
        failed += 1
        print(f"self-test: the clean tree has violations: {run(clean)}")
    for rule, files in bad:
        seen = run(files)
        if seen != {rule}:
            failed += 1
            print(f"self-test: {files} should break {rule} alone, but breaks {seen or 'nothing'}")
    for rule in RULES:
        if rule not in {r for r, _ in bad}:
            failed += 1
            print(f"self-test: nothing proves that {rule} can fail")
    print(f"layers self-test: {len(bad) + 1 + len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main(args):
    if args == ["--self-test"]:
        return self_test()
    root = pathlib.Path(args[0]) if args else pathlib.Path(__file__).resolve().parent.parent
    checker = Checker(root).run()
    for _, text in checker.found:
        print(text)
    print(f"layers: {checker.files} files, {len(checker.found)} violations")
    return 1 if checker.found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
