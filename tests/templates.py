#!/usr/bin/env python3
"""Templates of real repositories: jinja2, set up as Salt does, and `halite check` must refuse the same ones.

    templates.py --halite FILE --salt PYTHON CHECKOUT ...

PYTHON is the interpreter of an environment in which salt 3008.4 is installed; a CHECKOUT is a directory with SLS files and
templates, at any depth. Every text file with markup in it, or with the ending of a template, is read by both; nothing is
rendered. Files whose first line chooses a pipe without Jinja are left out. Ends with 1 if the two disagree on a file.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ENDINGS = (".sls", ".jinja", ".jinja2", ".j2", ".tmpl", ".template", ".map")
AT_ONCE = 300


def templates(directory):
    for path in sorted(directory.rglob("*")):
        if path.is_symlink() or not path.is_file() or ".git" in path.parts:
            continue
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
        first = text.split("\n", 1)[0]
        if first.startswith("#!") and not first.startswith("#!/") and "jinja" not in first:
            continue
        if path.name.endswith(ENDINGS) or "{%" in text or "{{" in text:
            yield path, text


def refused_by_jinja():
    """Runs within Salt's interpreter: names of files from standard input, what jinja2 says of each to standard output."""
    import jinja2
    import salt.config
    import salt.loader
    import salt.utils.jinja
    from salt.utils.decorators.jinja import JinjaFilter, JinjaGlobal, JinjaTest

    options = salt.config.minion_config(None)
    salt.loader.render(options, {})
    extensions = ["jinja2.ext.do", "jinja2.ext.loopcontrols", salt.utils.jinja.SerializerExtension]
    environment = jinja2.Environment(extensions=extensions, undefined=jinja2.StrictUndefined)
    environment.filters.update(JinjaFilter.salt_jinja_filters)
    environment.tests.update(JinjaTest.salt_jinja_tests)
    environment.globals.update(JinjaGlobal.salt_jinja_globals)
    answers = {}
    for name in json.load(sys.stdin):
        try:
            environment.compile(pathlib.Path(name).read_bytes().decode())
        except jinja2.TemplateError as error:
            answers[name] = [error.message, getattr(error, "lineno", 0)]
    print("\n" + json.dumps(answers))


def ask_jinja(python, names):
    done = subprocess.run([python, __file__, "--inside"], input=json.dumps(names), text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"jinja2: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def ask_halite(program, names):
    answers = {}
    for start in range(0, len(names), AT_ONCE):
        done = subprocess.run([program, "check", *names[start : start + AT_ONCE]], text=True, capture_output=True)
        if done.returncode not in (0, 1):
            sys.exit(f"halite: {done.stderr}")
        for line in done.stdout.splitlines():
            if found := re.match(r"(/.+?\.jinja):(\d+):\d+: (.*)", line):
                answers[found[1]] = [found[3], int(found[2])]
            else:
                print(f"not understood: {line}")
    return answers


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--salt", help="the interpreter of an environment with Salt")
    arguments.add_argument("--halite", default="halite", help="the program")
    arguments.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments.add_argument("checkouts", nargs="*", type=pathlib.Path, help="directories with SLS files and templates")
    given = arguments.parse_args()
    if given.inside:
        return refused_by_jinja()
    if not given.salt or not given.checkouts:
        arguments.error("--salt and the directory of a checkout are needed")
    wrong = 0
    print("| checkout | templates | refused by both | lines differ | disagree |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as copies:
        for checkout in given.checkouts:
            known = {}
            for number, (path, text) in enumerate(templates(checkout)):
                # A copy under another name: only markup is to be judged, not the YAML around it.
                copy = pathlib.Path(copies) / f"{number}.jinja"
                copy.write_bytes(text.encode())
                known[str(copy)] = path
            theirs, ours = ask_jinja(given.salt, list(known)), ask_halite(given.halite, list(known))
            both = theirs.keys() & ours.keys()
            lines = [name for name in both if theirs[name][1] != ours[name][1]]
            apart = theirs.keys() ^ ours.keys()
            wrong += len(apart)
            print(f"| {checkout.name} | {len(known)} | {len(both)} | {len(lines)} | {len(apart)} |")
            for name in sorted(apart) + lines:
                print(f"    {known[name]}: jinja2 {theirs.get(name)}, halite {ours.get(name)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
