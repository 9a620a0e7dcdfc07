#!/bin/sh
# Runs all tests. Installs what they need and is missing.
set -eu
cd "$(dirname "$0")/.."
. packaging/env.sh
prepare
need_test_packages || say "halite: tests that need a firewall are left out"

# checked WHAT COMMAND ...: a check whose tool a toolchain may lack; then it is said and left out.
checked() {
    tool=$1
    shift
    if cargo "$tool" --version >/dev/null 2>&1; then "$@"; else say "halite: cargo $tool is not installed: left out"; fi
}

checked fmt cargo fmt --all --check
checked clippy cargo clippy --quiet --workspace --all-targets -- -D warnings
checked deny cargo deny --log-level error check bans licenses sources
cargo test --quiet --workspace --no-fail-fast
