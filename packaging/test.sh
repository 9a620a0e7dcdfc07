#!/bin/sh
# Runs all tests. Installs what they need and is missing.
set -eu
cd "$(dirname "$0")/.."
. packaging/env.sh
prepare
cargo fmt --check
cargo clippy --quiet --all-targets -- -D warnings
cargo test --quiet --no-fail-fast
