#!/usr/bin/env python3
"""Real Salt and Halite side by side: the same calls of execution functions, and what both answer.

    compare.py --halite FILE --salt PYTHON      prints the table of calls and agreements
    compare.py --halite FILE --salt PYTHON --root DIR    also those that change a host, each program in its own copy of DIR
    compare.py --halite FILE --salt PYTHON --root DIR --into docs/agreement.md states/file    and writes the rows into it
    compare.py --halite FILE --few              the functions of states that are called in fewer than three ways
    compare.py --halite FILE --salt PYTHON --grains      the grains of this machine, key by key
    compare.py --salt PYTHON --record           writes what Salt answers to tests/data/modules/, for the unit tests

PYTHON is the interpreter of an environment in which salt 3008.4 is installed. All calls of Salt run in one process of it,
by way of salt.client.Caller; each of Halite's is a `salt-call --local`. The calls stand in tests/data/modules/*.calls: one
a line, a JSON list of the function, its positional arguments and, where there are some, its keyword arguments. A word
"differs: REASON", "volatile" or "host" behind the list says that another answer is known, that no answer is like another,
or that it depends on the host: those are not recorded.
The calls of states stand in tests/data/states/*.calls and are named states/NAME here: the state and its arguments, which
`state.single` is asked; result, comment, changes and warnings are compared. Behind a "3 " a state is asked thrice: in
test mode, for real and again. Where Salt breaks off with a trace of its own code, any failure agrees.
Calls that change a host stand in files that begin with the line "# root", behind which stand programs that the root must
have. They are made only with --root, whose DIR is a root made by debootstrap (or several, as overlayfs stacks them, with
colons between): both programs run the same list, each
in a copy of its own that is thrown away, in mount, pid, network, ipc and uts namespaces of its own, as root. A line that
begins with "$ " is for a shell, to prepare what follows; $PYTHON is an interpreter there, $DATA is tests/data. A line
"# grains {..}" gives both programs grains that the host does not have, such as another family of systems; a line "# ordered"
gives Salt maps as an SLS has them, which some of its states tell from those of a command line; a line "# without NAME" takes
an execution module from Salt, so that the one is asked that stands behind it.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data" / "modules"
STATES = HERE / "data" / "states"
WIDTH = 400  # characters of an answer that are shown
MINION = {
    "id": "web1",
    "file_client": "local",
    "grains": {"roles": ["web", "db"], "site": {"dc": "eu1"}},
    # Where a root may have states of Salt that 3008 has given away: alternatives, of 3007.1.
    "states_dirs": ["/opt/salt-states"],
    # What pillar.ext may be asked for.
    "on_demand_ext_pillar": ["cmd_json"],
}


# So many seconds a call may take.
LIMIT = 120


def path_of(name):
    return STATES / f"{name.removeprefix('states/')}.calls" if name.startswith("states/") else DATA / f"{name}.calls"


def calls(name):
    """The calls of a module: function, positional and keyword arguments, note."""
    for number, line in enumerate(path_of(name).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("$ "):
            yield "$", [line[2:]], {}, ""
            continue
        thrice = name.startswith("states/") and line.startswith("3 ")
        try:
            call, end = json.JSONDecoder().raw_decode(line[2:] if thrice else line)
        except ValueError as error:
            sys.exit(f"{name}.calls, line {number}: {error}")
        end += 2 * thrice
        if name.startswith("states/"):
            note = line[end:].strip()
            if thrice:
                yield *as_call(*call, {"test": True}), note
                yield *as_call(*call, {}), note
            yield *as_call(*call, {}), note
            continue
        fun, positional, *keywords = call
        yield fun, positional, keywords[0] if keywords else {}, line[end:].strip()


def as_call(state, arguments, mode):
    """A state as one call. `state.single` cannot hand on an argument that it has itself."""
    if "opts" not in arguments:
        return "state.single", [state], arguments | mode
    module, function = state.split(".")
    name = arguments.get("name", "x")
    return "state.high", [{name: {module: [function] + [{key: value} for key, value in arguments.items()]}}], mode


def subject(call):
    """The function or the state that a call is there for."""
    if call[0] == "state.high":
        chunk = next(iter(call[1][0].values()))
        module = next(iter(chunk))
        return f"{module}.{chunk[module][0]}"
    return call[1][0] if call[0] == "state.single" else call[0]


def needs_root(name):
    return path_of(name).read_text().startswith("# root")


def missing_in_root(name, root):
    """The programs that the first line of a file of calls names and the root does not have."""
    wanted = path_of(name).read_text().splitlines()[0].removeprefix("# root").split()
    layers = [pathlib.Path(layer) for layer in root.split(":")]
    return [tool for tool in wanted if not any((layer / "usr/bin" / tool).exists() for layer in layers)]


def grains_of(name):
    """Grains that a file of calls wants the host to have."""
    lines = path_of(name).read_text().splitlines()
    given = [line.removeprefix("# grains ") for line in lines if line.startswith("# grains ")]
    return json.loads(given[0]) if given else {}


def without(name):
    """The execution modules that Salt is not to have."""
    lines = path_of(name).read_text().splitlines()
    return [line.removeprefix("# without ") for line in lines if line.startswith("# without ")]


def maps_of(name):
    """The kind of maps that Salt gets."""
    return collections.OrderedDict if "\n# ordered\n" in path_of(name).read_text() else dict


def configuration(directory, more=None, disabled=()):
    grains = {**MINION["grains"], **(more or {})}
    options = dict(MINION, root_dir=str(directory / "root"), grains=grains, disable_modules=list(disabled))
    (directory / "minion").write_text(json.dumps(options))
    (directory / "root").mkdir()


def plain(value):
    """What JSON can carry, tuples and bytes too."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        # Salt's yamlex has texts of a class of its own, which say something else when they are asked for their text.
        return {str.__str__(key) if isinstance(key, str) else str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, types.GeneratorType)):
        return [plain(inner) for inner in value]
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return value


def answer_as_salt(directory, maps=dict):
    """Runs within Salt's interpreter: calls from standard input, answers to standard output."""
    import logging

    logging.disable(logging.CRITICAL)
    import salt.client
    import salt.config

    complete()
    configured = pathlib.Path(directory) / "minion"
    grains = configured.with_name("grains")
    written = lambda: grains.read_bytes() if grains.exists() else None

    def load():
        functions = salt.client.Caller(mopts=salt.config.minion_config(str(configured))).sminion.functions
        functions["state.single"]("test.nop", "x")
        return functions

    functions, known = load(), written()
    answers = []

    def late(*_):
        raise TimeoutError(f"no answer in {LIMIT} s")

    signal.signal(signal.SIGALRM, late)
    for fun, positional, keywords in json.load(sys.stdin, object_pairs_hook=maps):
        signal.alarm(LIMIT)
        if fun == "$":
            answers.append(prepare(positional[0]))
        elif fun in ("state.single", "state.high"):
            # What a state has set in its process or in the grains counts as with one salt-call after the other.
            if written() != known:
                functions, known = load(), written()
            signal.alarm(0)
            answers.append(apart(lambda: answer_of(functions, fun, positional, keywords)))
        else:
            answers.append(answer_of(functions, fun, positional, keywords))
    print("\n" + json.dumps(answers))


def complete():
    """What nm_ip of 3008.4 says of a function that the package does not have, and without which it is never loaded."""
    import salt.utils.network
    from salt.utils.path import which

    runs = lambda: bool(which("nmcli")) and os.path.isdir("/run/NetworkManager")
    vars(salt.utils.network).setdefault("nm_managed", lambda: runs() and not which("ifup") and not which("ifdown"))


def answer_of(functions, fun, positional, keywords):
    try:
        if fun not in functions:
            raise KeyError(f"{fun} is not there")
        return {"answer": plain(functions[fun](*positional, **keywords))}
    except Exception as error:
        return {"raises": type(error).__name__, "message": str(error)}


def apart(work):
    """In a process of its own. What it returns comes back in a file, since its child may go on with the pipe."""
    with tempfile.NamedTemporaryFile("r") as answer:
        child = os.fork()
        if not child:
            signal.alarm(LIMIT)
            try:
                pathlib.Path(answer.name).write_text(json.dumps(work(), default=str))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return json.loads(answer.read() or '{"raises": "ended", "message": "the process ended without an answer"}')


def prepare(line):
    surroundings = dict(os.environ, PYTHON=sys.executable, DATA=str(HERE / "data"))
    done = subprocess.run(line, shell=True, text=True, capture_output=True, env=surroundings)
    if done.returncode:
        sys.exit(f"the preparation failed: {line}: {done.stderr}")
    return {"answer": None}


# Mounts and begins a root that is thrown away: $1 what is below, $2 a directory to work in; then the directories that are shown in
# it as they are, up to "--", and the command.
ROOT = """
set -e
below=$1 work=$2; shift 2
mount --make-rprivate /
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=$below,upperdir=$work/upper,workdir=$work/work" "$work/root"
root=$work/root
while [ "$1" != -- ]; do
    mkdir -p "$root$1"; mount --bind "$1" "$root$1"; mount -o remount,bind,ro "$root$1"; shift
done
shift
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for node in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do
    set -- "$node" "$@"; mknod -m 666 "$root/dev/${1% *}" c 1 "${1#* }"; shift
done
mkdir "$root/dev/shm"; ln -s /proc/self/fd "$root/dev/fd"
hostname web1
ip link set lo up 2>/dev/null || true
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
exec chroot "$root" "$@"
"""


def in_root(below, python, program, words, asked, own=__file__):
    """Runs a script, this one if no other is named, in a root of its own; both programs see the same paths."""
    script = "import sys; print(sys.prefix); print(sys.base_prefix)"
    shown = subprocess.run([python, "-c", script], text=True, capture_output=True, check=True).stdout.splitlines()
    shown += [str(HERE), str(pathlib.Path(program).resolve().parent)]
    with tempfile.TemporaryDirectory() as work:
        spaces = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]
        command = spaces + ["sh", "-c", ROOT, "root", below, work, *sorted(set(shown)), "--", python, str(own), *words]
        done = subprocess.run(command, input=json.dumps(asked), text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"in the root: {done.stdout} {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def answer_in_root(program, name):
    """Runs within the root: all calls of one program."""
    directory = pathlib.Path("/tmp/compare")
    directory.mkdir()
    configuration(directory, grains_of(name), () if program else without(name))
    if not program:
        return answer_as_salt(directory, maps_of(name))
    answers = []
    for call in json.load(sys.stdin):
        answers.append(prepare(call[1][0]) if call[0] == "$" else ask_halite(program, directory, call))
    print("\n" + json.dumps(answers))


def ask_salt(python, directory, asked):
    done = subprocess.run(
        [python, __file__, "--inside", str(directory)], input=json.dumps(asked), text=True, capture_output=True
    )
    if done.returncode:
        sys.exit(f"salt: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def ask_halite(program, directory, call):
    fun, positional, keywords = call
    words = [as_word(value) for value in positional]
    words += [f"{name}={as_word(value)}" for name, value in keywords.items()]
    command = [program, "salt-call", "--local", "-c", str(directory), "--out=json", "-lquiet", fun, "--", *words]
    try:
        done = subprocess.run(command, text=True, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"raises": f"no answer in {LIMIT} s"}
    try:
        return {"answer": json.loads(done.stdout)["local"]}
    except (ValueError, KeyError):
        return {"raises": done.stderr.strip() or done.stdout.strip()}


def as_word(value):
    """As a user types it. A text with a # in it is taken as it stands, by Salt too."""
    return value if isinstance(value, str) and "#" in value else json.dumps(value)


def of_state(answer):
    """What of a state's answer is compared."""
    if isinstance(answer.get("answer"), dict) and answer["answer"]:
        result = next(iter(answer["answer"].values()))
        if isinstance(result, dict):
            compared = {key: result.get(key) for key in ("result", "comment", "changes", "warnings")}
            return {"answer": in_order(compared)}
    return answer


def in_order(result):
    """Salt walks through directories in the order in which the disk has them."""
    comment, changes = result["comment"], result["changes"]
    if isinstance(comment, str) and ("The following files will be changed" in comment or "####" in comment):
        result["comment"] = sorted(comment.splitlines())
    if isinstance(changes, dict) and isinstance(changes.get("removed"), list):
        result["changes"] = dict(changes, removed=sorted(changes["removed"]))
    return result


def agree(salt, halite):
    if "raises" in salt or "raises" in halite:
        return "raises" in salt and "raises" in halite
    if broke_off(salt["answer"]):
        ours = halite["answer"]
        return isinstance(ours, list) or isinstance(ours, dict) and ours.get("result") is False
    return as_printed(salt["answer"]) == as_printed(halite["answer"])


def broke_off(answer):
    """A state of Salt's that ended in an exception, which it shows with its trace: that is a failure, whatever the words."""
    comment = answer.get("comment") if isinstance(answer, dict) else None
    return isinstance(comment, str) and comment.startswith("An exception occurred in this state: Traceback (")


def as_printed(value):
    """Bytes that are no text reach the terminal as signs for that. The number of a process is never the same."""
    if isinstance(value, dict):
        if list(value) == ["bytes"] and re.fullmatch("([0-9a-f]{2})*", str(value["bytes"])):
            return bytes.fromhex(value["bytes"]).decode(errors="replace")
        # What was published is passed on by salt-call, and by a Caller it is not.
        is_own = lambda key: key != "pid" and not key.startswith("__pub_")
        return {key: as_printed(inner) for key, inner in value.items() if is_own(key)}
    if isinstance(value, list):
        return [as_printed(inner) for inner in value]
    return value


def like(salt, halite):
    """Volatile answers agree when they have the same form."""
    return "answer" in salt and "answer" in halite and type(salt["answer"]) is type(halite["answer"])


def record(python, directory, names):
    for name in names:
        asked = [(fun, positional, keywords) for fun, positional, keywords, _ in calls(name)]
        notes = [note for *_, note in calls(name)]
        lines = []
        for call, note, answer in zip(asked, notes, ask_salt(python, directory, asked)):
            if not note:
                lines.append(json.dumps({"call": call, **answer}, ensure_ascii=False))
        if not lines:
            continue
        (DATA / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
        print(f"{name}: {len(lines)} answers")


# Why a grain is not the same, or there is none.
GRAINS = {
    "ca_truststore": "which certificates Python takes; Halite takes the host's",
    "haliteversion": "Halite's own version",
    "package": "how Salt was packaged",
    "pid": "a process of its own",
    "pythonexecutable": "there is no Python",
    "pythonpath": "there is no Python",
    "pythonversion": "there is no Python",
    "saltpath": "where the program is",
    "zmqversion": "there is no ZeroMQ",
}


def grains(python, program, directory):
    """The grains of this machine, key by key."""
    salt = ask_salt(python, directory, [("grains.items", [], {})])[0]["answer"]
    ours = ask_halite(program, directory, ("grains.items", [], {}))["answer"]
    print("| grain | Salt | Halite | reason |\n|---|---|---|---|")
    missing, same = 0, 0
    for key in sorted(set(salt) | set(ours)):
        pair = [json.dumps(grains[key])[:60].replace("|", "\\|") if key in grains else "" for grains in (salt, ours)]
        if salt.get(key) == ours.get(key) and key in salt and key in ours:
            same += 1
            print(f"| {key} | the same | the same | |")
            continue
        missing += key not in GRAINS
        print(f"| {key} | {pair[0]} | {pair[1]} | {GRAINS.get(key, 'none')} |")
    print(f"\n{len(salt)} grains of Salt, {same} the same, {missing} without a reason")
    return 1 if missing else 0


def compare(python, program, directory, names, root, into):
    total = collections.Counter()
    rows = {}
    print("| function | calls | agree | else |\n|---|---|---|---|")
    for name in names:
        table = collections.defaultdict(lambda: [0, 0, []])
        unexplained = total["unexplained"]
        noted = list(calls(name))
        asked = [call[:3] for call in noted]
        if needs_root(name):
            if not root:
                print(f"| {name} | | | needs --root |")
                continue
            if missing := missing_in_root(name, root):
                print(f"| {name} | | | needs a root with {', '.join(missing)} |")
                continue
            sides = ["", str(pathlib.Path(program).resolve())]
            with concurrent.futures.ThreadPoolExecutor() as pool:
                one = lambda side: in_root(root, python, program, ["--in-root", side, name], asked)
                answers, ours = pool.map(one, sides)
        else:
            answers = ask_salt(python, directory, asked)
            ours = [ask_halite(program, directory, call) for call in asked]
        for (*call, note), salt, halite in zip(noted, answers, ours):
            if call[0] == "$":
                continue
            if name.startswith("states/"):
                salt, halite = of_state(salt), of_state(halite)
            row = table[subject(call)]
            row[0] += 1
            if agree(salt, halite) or note == "volatile" and like(salt, halite):
                row[1] += 1
            elif note.startswith("differs:"):
                row[2].append(note.removeprefix("differs:").strip())
            else:
                row[2].append(f"{json.dumps(call)}: {json.dumps(salt)[:WIDTH]} <> {json.dumps(halite)[:WIDTH]}")
                total["unexplained"] += 1
        own = []
        for fun, (count, agreed, others) in sorted(table.items()):
            print(f"| {fun} | {count} | {agreed} | {'; '.join(others)} |", flush=True)
            told = {why: f" ({others.count(why)} times)" if others.count(why) > 1 else "" for why in others}
            own.append((label(name, fun), count, agreed, "; ".join(why + times for why, times in told.items())))
            total["calls"] += count
            total["agree"] += agreed
        if into and total["unexplained"] == unexplained:
            rows[name] = own
        elif into:
            print(f"| {name} | | | not written |", flush=True)
    for title, is_state in (("Functions", False), ("States", True)):
        made = {name: own for name, own in rows.items() if name.startswith("states/") == is_state}
        if made:
            document(made, into, title)
    share = 100 * total["agree"] / max(total["calls"], 1)
    print(f"\n{total['calls']} calls, {total['agree']} agree ({share:.1f} %), {total['unexplained']} without a reason")
    return 1 if total["unexplained"] or share < 90 else 0


def few(program, directory):
    """The functions of states that are called in fewer than three ways."""
    lines = collections.defaultdict(set)
    for path in STATES.glob("*.calls"):
        for *call, _ in calls(f"states/{path.stem}"):
            if call[0] != "$":
                lines[subject(call)].add(json.dumps([call[1], {**call[2], "test": None}]))
    known = ask_halite(program, directory, ("sys.list_state_functions", [], {}))["answer"]
    found = [f"{fun}: {len(lines[fun])}" for fun in known if len(lines[fun]) < 3]
    print("\n".join(found) or f"{len(known)} functions of states, each called in at least three ways")
    return 1 if found else 0


def label(name, fun):
    """A function as the document names it: with the file of calls where that is named otherwise than the module."""
    file = name.removeprefix("states/")
    return fun if fun.split(".")[0] == file else f"{fun} ({file})"


def file_of(label):
    """The file of calls that a row comes from."""
    fun, _, file = label.partition(" (")
    return file.rstrip(")") or fun.split(".")[0]


def document(made, path, title):
    """Puts the rows of some files of calls into the table of all, in the place of the rows that they had."""
    text = path.read_text()
    begin = text.index(f"## {title}\n")
    end = text.find("\n## ", begin)
    end = len(text) if end < 0 else end + 1
    files = {name.removeprefix("states/") for name in made}
    parts = text[begin:end].split("\n\n")[1:]
    is_table = lambda line: line.startswith("| ") and "." in line.split("|")[1]
    rows = [line.strip("| ").split(" | ", 3) for line in text[begin:end].splitlines() if is_table(line)]
    rows = [[fun, count, agreed, "".join(told)] for fun, count, agreed, *told in rows if file_of(fun) not in files]
    rows = sorted(rows + [list(row) for own in made.values() for row in own], key=lambda row: row[0])
    total, agreed = (sum(int(row[at]) for row in rows) for at in (1, 2))
    functions = len({row[0].split(" (")[0] for row in rows})
    said = f"{total} calls of {functions} functions, {agreed} agree ({100 * agreed / total:.1f} %)."
    said += " Each other one has its reason."
    lines = [f"| {fun} | {count} | {agreed} | {told} |" for fun, count, agreed, told in rows]
    table = "\n".join(["| function | calls | agree | else |", "|---|---|---|---|", *lines])
    kept = [part.strip() for part in parts if part.strip() and not part.startswith("|") and " agree (" not in part]
    introduction = "".join(f"{part}\n\n" for part in kept)
    path.write_text(text[:begin] + f"## {title}\n\n{introduction}{said}\n\n{table}\n\n" + text[end:])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--salt", help="the interpreter of an environment with Salt")
    arguments.add_argument("--halite", default="halite", help="the program")
    arguments.add_argument("--record", action="store_true", help="write Salt's answers for the unit tests")
    arguments.add_argument("--root", help="a root made by debootstrap, for calls that change a host")
    arguments.add_argument("--grains", action="store_true", help="the grains of this machine, key by key")
    arguments.add_argument("--few", action="store_true", help="states that are called in fewer than three ways")
    arguments.add_argument("--into", type=pathlib.Path, help="a document with sections Functions and States, whose rows are made anew")
    arguments.add_argument("--inside", help=argparse.SUPPRESS)
    arguments.add_argument("--in-root", help=argparse.SUPPRESS)
    arguments.add_argument("modules", nargs="*", help="modules to compare; all without any")
    given = arguments.parse_args()
    if given.inside:
        return answer_as_salt(given.inside)
    if given.in_root is not None:
        return answer_in_root(given.in_root, given.modules[0])
    if not given.salt and not given.few:
        arguments.error("--salt is missing")
    names = given.modules or sorted(path.stem for path in DATA.glob("*.calls")) + sorted(
        f"states/{path.stem}" for path in STATES.glob("*.calls")
    )
    if given.record:
        names = [name for name in names if not needs_root(name) and not name.startswith("states/")]
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        configuration(directory)
        if given.few:
            return few(given.halite, directory)
        if given.grains:
            return grains(given.salt, given.halite, directory)
        if given.record:
            return record(given.salt, directory, names)
        return compare(given.salt, given.halite, directory, names, given.root, given.into)


if __name__ == "__main__":
    sys.exit(main())
