#!/bin/sh
# Runs all tests. Installs what they need and is missing. At the end it says which were left out, and why: cargo counts
# those among the ones that passed. With CI=true one that lacks root or a program fails instead.
set -eu
cd "$(dirname "$0")/.."
. packaging/env.sh
prepare
need_test_packages || say "halite: not all that the tests need could be installed"

# checked WHAT COMMAND ...: a check whose tool a toolchain may lack; then it is said and left out.
checked() {
    tool=$1
    shift
    if cargo "$tool" --version >/dev/null 2>&1; then "$@"; else say "halite: cargo $tool is not installed: left out"; fi
}

checked fmt cargo fmt --all --check
checked clippy cargo clippy --quiet --workspace --all-targets -- -D warnings
checked deny cargo deny --log-level error check bans licenses sources

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
# What the tests say past cargo goes to where it went, and to a file. A shell knows the end of the last of a pipe alone.
{
    { cargo test --quiet --workspace --no-fail-fast 2>&1 >&3 3>&- || : >"$directory/failed"; } | tee "$directory/told" >&2
} 3>&1

# Dots of cargo may stand before it on the line.
if grep -o 'left out: .*' "$directory/told" >"$directory/left-out"; then
    say "halite: $(wc -l <"$directory/left-out") times a test or a part of one was left out:"
    sort -u "$directory/left-out" >&2
else
    say "halite: no test was left out"
fi
[ ! -e "$directory/failed" ]
