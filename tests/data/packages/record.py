#!/usr/bin/env python3
"""What dnf, zypper and rpm say on the host that ../modules/rpm-repository.sh makes: the answers of rpm.json.

To be run in a root of Debian 12 with dnf, dnf-plugins-core, zypper, createrepo-c and rpm, which is changed.
"""
import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = "%{NAME}\t%{EPOCH}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\t%{INSTALLTIME}\n"
ZYPPER = ["zypper", "--non-interactive"]
COMMANDS = [
    ["rpm", "-qa", "--nodigest", "--nosignature", "--queryformat", PACKAGES],
    ["rpm", "-V", "hello-h"],
    ["rpm", "-Va", "hello-h"],
    ["dnf", "grouplist", "hidden"],
    ["dnf", "--quiet", "groupinfo", "tools-h"],
    ["dnf", "--quiet", "groupinfo", "all-h"],
    ["dnf", "--quiet", "groupinfo", "@Greeting Tools"],
    ["dnf", "--quiet", "groupinfo", "Greeting Tools"],
    ["dnf", "--quiet", "groupinfo", "@More Words"],
    ["dnf", "--quiet", "groupinfo", "More Words"],
    ["dnf", "--quiet", "updateinfo", "list", "all"],
    ["dnf", "--quiet", "list", "--upgrades"],
    ["dnf", "--quiet", "list", "available", "hello-h", "dep-h"],
    ["dnf", "--quiet", "--showduplicates", "repository-packages", "local", "list", "hello-h"],
    ["dnf", "versionlock", "add", "hello-h"],
    ["dnf", "versionlock", "list"],
    ["dnf", "versionlock", "delete", "hello-h"],
    [*ZYPPER, "refresh", "--force"],
    [*ZYPPER, "--no-refresh", "info", "-t", "package", "dep-h", "hello-h"],
    [*ZYPPER, "--xmlout", "--no-refresh", "list-updates"],
    [*ZYPPER, "--xmlout", "--no-refresh", "se", "-t", "patch"],
    [*ZYPPER, "--xmlout", "--no-refresh", "se", "-t", "pattern"],
    [*ZYPPER, "--xmlout", "--no-refresh", "se", "-s", "hello-h"],
    [*ZYPPER, "--xmlout", "--no-refresh", "search", "--match-exact", "--provides", "greeting"],
    [*ZYPPER, "--xmlout", "--no-refresh", "search", "nosuch"],
    [*ZYPPER, "--xmlout", "--no-refresh", "--disable-repositories", "products", "-i"],
    [*ZYPPER, "--xmlout", "--no-refresh", "cl"],
    [*ZYPPER, "--xmlout", "--no-refresh", "download", "hello-h"],
    [*ZYPPER, "--no-refresh", "al", "hello-h", "extra-h=1.0"],
    [*ZYPPER, "--no-refresh", "install", "--auto-agree-with-licenses", "--name", "nosuch"],
]


def main():
    subprocess.run(["sh", HERE.parent / "modules" / "rpm-repository.sh"], check=True)
    with open("/etc/hello-h.conf", "a") as file:
        file.write("changed\n")
    os.chmod("/usr/share/hello-h/v", 0o600)
    lines = []
    for argv in COMMANDS:
        done = subprocess.run(argv, text=True, capture_output=True, env=dict(os.environ, LC_ALL="C"))
        entry = {"argv": argv, "code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
        lines.append(json.dumps(entry, ensure_ascii=False))
    print("[\n" + ",\n".join(lines) + "\n]")


main()
