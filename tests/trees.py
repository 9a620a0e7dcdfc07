#!/usr/bin/env python3
"""SLS trees applied for real, by real Salt and by Halite, each in a root of its own; and what became of the roots.

    trees.py --halite FILE --salt PYTHON --root DIR [TREE ...]

PYTHON is the interpreter of an environment in which salt 3008.4 is installed, DIR a root made by debootstrap, or several
with colons between, as compare.py takes them; the programs that the trees need are in its head.
The trees are the directories of tests/data/trees/: file_roots in states/, pillar_roots in pillar/, and perhaps a prepare.sh
that is run before. Each program applies a tree three times: in test mode, for real and again. What must hold:

    test mode changes nothing, and announces a change for just those states that change something then
    the second run changes nothing, neither by its answer nor on the disk
    both programs answer the same: result, comment and changes of each state, in the same order
    both roots are the same: files by hash, owner and mode; packages, accounts, running services

The first three are asked of Halite; how often Salt itself does not keep to them is counted.
A file "differs", of all trees or of one, lists what is known to be otherwise: a line each, the beginning of what is printed
here (a pattern of fnmatch), a colon and two blanks, and the reason.
"""
import argparse
import difflib
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import stat
import subprocess
import sys

import compare

HERE = pathlib.Path(__file__).resolve()
TREES = HERE.parent / "data" / "trees"
WORK = pathlib.Path("/tmp/compare")
LIMIT = 600  # seconds of one run

# What belongs to the programs themselves, is a log or a cache, or has the time of day in it.
PASSED_OVER = [
    "/dev", "/proc", "/sys", "/tmp", "/var/cache", "/var/log", "/var/lib/apt", "/var/lib/dpkg/info", "/var/lib/dpkg/triggers",
    "/var/lib/dpkg/*-old", "/run/*.pid", "/run/lock", "/etc/*-", "*.pyc", "*/__pycache__", "*/.git/index", "*/.git/logs",
    "*/.git/FETCH_HEAD", "*/.git/ORIG_HEAD", "/var/cache/debconf", "/srv/repo", "/srv/app.git",
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--salt", help="the interpreter of an environment with Salt")
    arguments.add_argument("--halite", default="halite", help="the program")
    arguments.add_argument("--root", help="a root made by debootstrap")
    arguments.add_argument("--in-root", nargs=2, help=argparse.SUPPRESS)
    arguments.add_argument("trees", nargs="*", help="trees to apply; all without any")
    given = arguments.parse_args()
    if given.in_root:
        return print("\n" + json.dumps(apply_in_root(*given.in_root)))
    if not given.salt or not given.root:
        arguments.error("--salt and --root are needed")
    names = given.trees or sorted(path.name for path in TREES.iterdir() if path.is_dir())
    print("| tree | states | modules | changed | the same as Salt | faults of Salt's own | else |\n|---|---|---|---|---|---|---|")
    wrong = [name for name in names if not is_well(given, name)]
    print(f"\n{len(names)} trees, {len(names) - len(wrong)} as they should be")
    return 1 if wrong else 0


def is_well(given, name):
    """Applies a tree with both programs and prints its line; whether nothing is left without a reason."""
    program = str(pathlib.Path(given.halite).resolve())
    try:
        salt, halite = (
            compare.in_root(given.root, given.salt, program, ["--in-root", which, name], None, HERE)
            for which in ("", program)
        )
    except SystemExit as end:
        return print(f"| {name} | | | | | | {end} |", flush=True)
    found = faults(halite) + differences(salt, halite)
    known = known_differences(TREES / "differs") + known_differences(TREES / name / "differs")
    reasons, open_ones = [], []
    for fault in found:
        reason = next((reason for pattern, reason in known if fnmatch.fnmatchcase(fault, pattern + "*")), None)
        reasons.append(reason) if reason else open_ones.append(fault)
    applied = halite["runs"]["apply"]
    same = sum(of_state(salt, key) == of_state(halite, key) for key in applied)
    changed = sum(bool(state["changes"]) for state in applied.values())
    modules = {key.split("_|-")[0] for key in applied}
    told = "; ".join(sorted(set(reasons)))
    print(f"| {name} | {len(applied)} | {len(modules)} | {changed} | {same} | {len(faults(salt))} | {told} |", flush=True)
    for fault in open_ones:
        print("    " + fault.replace("\n", "\n        "))
    return not open_ones


def known_differences(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return [tuple(line.split(":  ", 1)) for line in lines if line and not line.startswith("#")]


def faults(root):
    """What one program did that no program should."""
    runs, disks = root["runs"], root["disks"]
    found = []
    for run, states in runs.items():
        found += [f"{run}: {key} failed: {state['comment']}" for key, state in states.items() if state["result"] is False]
    if disks["prepared"] != disks["test"]:
        found += [f"test mode changed {line}" for line in changes(disks["prepared"], disks["test"])]
    if disks["apply"] != disks["again"]:
        found += [f"the second run changed {line}" for line in changes(disks["apply"], disks["again"])]
    for key, state in runs["again"].items():
        if state["changes"]:
            found.append(f"again: {key} changed {json.dumps(state['changes'])}")
    for key, state in runs["apply"].items():
        announced = runs["test"].get(key, {}).get("result")
        if (announced is None) != bool(state["changes"]):
            found.append(f"test: {key} announced {announced}, then changed {json.dumps(state['changes'])}")
    return found


def differences(salt, halite):
    """Where the programs or their roots are not alike."""
    found = []
    for run in salt["runs"]:
        ours, theirs = halite["runs"][run], salt["runs"][run]
        if list(ours) != list(theirs):
            found.append(f"{run}: another order\n" + "\n".join(difflib.unified_diff(list(theirs), list(ours), "Salt", "Halite", "", 1)))
        for key in ours:
            pair = [of_state(root, key, run) for root in (salt, halite)]
            if pair[0] != pair[1]:
                found.append(f"{run}: {key}: other answer\n{json.dumps(pair[0])}\n{json.dumps(pair[1])}")
    found += [f"disk: {line}" for line in changes(salt["disks"]["again"], halite["disks"]["again"])]
    for key in salt["host"]:
        if salt["host"][key] != halite["host"][key]:
            found.append(f"host: {key}\n{salt['host'][key]}\n{halite['host'][key]}")
    return found


def changes(old, new):
    return [
        f"{path}: {old.get(path, 'missing')} -> {new.get(path, 'missing')}"
        for path in sorted(set(old) | set(new))
        if old.get(path) != new.get(path)
    ]


def of_state(root, key, run="apply"):
    state = root["runs"][run].get(key)
    return state and compare.as_printed(compare.in_order({name: state.get(name) for name in ("result", "comment", "changes")}))


# Within the root ----------------------------------------------------------------------------------------------------------


def apply_in_root(program, name):
    """All runs of one program: what it answered, and the disk after each."""
    tree = TREES / name
    WORK.mkdir()
    surroundings = dict(os.environ, PYTHON=sys.executable)
    for script in (TREES / "prepare.sh", tree / "prepare.sh"):
        if script.exists():
            done = subprocess.run(["sh", script], text=True, capture_output=True, env=surroundings)
            if done.returncode:
                sys.exit(f"{script}: {done.stdout} {done.stderr}")
    options = dict(compare.MINION, root_dir=str(WORK / "root"), file_roots={"base": [str(tree / "states")]})
    options["pillar_roots"] = {"base": [str(tree / "pillar")]}
    (WORK / "minion").write_text(json.dumps(options))
    (WORK / "root").mkdir()
    runs, disks = {}, {"prepared": disk()}
    for run, words in (("test", ["test=True"]), ("apply", []), ("again", [])):
        runs[run] = states(program, words)
        disks[run] = disk()
    return {"runs": runs, "disks": disks, "host": host()}


def states(program, words):
    """Runs all states; what became of each, in the order in which they ran."""
    call = [program, "salt-call"] if program else [str(pathlib.Path(sys.executable).parent / "salt-call")]
    call += ["--local", "-c", str(WORK), "--out=json", "-lquiet", "state.apply", *words]
    done = subprocess.run(call, text=True, capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    try:
        answer = json.loads(done.stdout)["local"]
        ordered = sorted(answer.items(), key=lambda item: item[1]["__run_num__"])
    except (ValueError, KeyError, AttributeError, TypeError):
        sys.exit(f"{call}: exit code {done.returncode}: {done.stdout} {done.stderr}")
    return dict(ordered)


def disk():
    """Every file: kind, mode, owner, and hash or target."""
    found = {}
    for directory, directories, files in os.walk("/"):
        directories[:] = sorted(name for name in directories if not is_passed_over(os.path.join(directory, name)))
        for name in directories + files:
            path = os.path.join(directory, name)
            if not is_passed_over(path):
                found[path] = of_file(path)
    return found


def is_passed_over(path):
    """Also what is shown in the root from outside of it."""
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in PASSED_OVER) or os.path.ismount(path)


def of_file(path):
    about = os.lstat(path)
    words = [stat.filemode(about.st_mode), f"{about.st_uid}:{about.st_gid}"]
    if stat.S_ISLNK(about.st_mode):
        words.append(os.readlink(path))
    elif stat.S_ISREG(about.st_mode):
        content = pathlib.Path(path).read_bytes()
        words.append(hashlib.sha256(content).hexdigest()[:16])
    return " ".join(words)


def host():
    """What the databases of the host say."""
    said = lambda *words: subprocess.run(words, text=True, capture_output=True).stdout
    services = sorted(path.name for path in pathlib.Path("/etc/init.d").iterdir())
    return {
        "packages": said("dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\n"),
        "users": said("getent", "passwd"),
        "groups": said("getent", "group"),
        "shadow": re.sub(r"\$[^:]*", "$", said("getent", "shadow")),
        "running": [name for name in services if subprocess.run(["service", name, "status"], capture_output=True).returncode == 0],
        "enabled": sorted(path.name for path in pathlib.Path("/etc").glob("rc?.d/*")),
        "firewall": re.sub(r"\[.*?\]|#.*", "", said("iptables-save")),
        "settings": sorted(said("debconf-show", "asker").splitlines()),
        "crontabs": {path.name: crontab(path) for path in sorted(pathlib.Path("/var/spool/cron/crontabs").glob("*"))},
        "git": said("git", "-C", "/srv/code", "log", "--format=%H %s", "-1") if os.path.exists("/srv/code") else "",
        "network": said("sysctl", "net.ipv4.ip_forward", "net.core.somaxconn", "net.ipv4.tcp_keepalive_time"),
    }


def crontab(path):
    """A crontab without its head, which says when it was made."""
    return [line for line in path.read_text().splitlines() if not line.startswith(("# DO NOT", "# (", "# Cron"))]


if __name__ == "__main__":
    sys.exit(main())
