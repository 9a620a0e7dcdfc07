#!/bin/sh
# Builds Halite, starts a master and three minions in a temporary directory on loopback, runs jobs on them and cleans up.
set -eu
cd "$(dirname "$0")/.."
. packaging/env.sh
prepare

say "building the static binary, with few optimizations so that it is ready soon (make build makes the one to install)"
cargo build --profile demo
built=$(find target -maxdepth 3 -type f -path '*/demo/halite' | head -n 1)

root=$(mktemp -d /tmp/halite-demo.XXXXXX)
pids=
cleanup() {
    trap - EXIT
    for pid in $pids; do kill "$pid" 2>/dev/null || :; done
    for pid in $pids; do wait "$pid" 2>/dev/null || :; done
    rm -rf "$root"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

"$built" install "$root/bin" >/dev/null
PATH="$root/bin:$PATH"
export SALT_CONFIG_DIR="$root/master"

# free_port FROM: the first port from there on that nobody listens on.
listening() { awk -v port="$(printf '%04X' "$1")" '$4 == "0A" { split($2, at, ":"); if (at[2] == port) found = 1 } END { exit !found }' /proc/net/tcp; }
free_port() {
    port=$1
    while listening "$port"; do port=$((port + 1)); done
    echo "$port"
}
publish=$(free_port 14505)
ret=$(free_port $((publish + 1)))

mkdir -p "$root/master"
cat >"$root/master/master" <<CONF
interface: 127.0.0.1
publish_port: $publish
ret_port: $ret
root_dir: $root/master
CONF
for id in web1 web2 db1; do
    mkdir -p "$root/$id"
    cat >"$root/$id/minion" <<CONF
id: $id
master: 127.0.0.1
master_port: $ret
root_dir: $root/$id
CONF
done

# quoted WORD ...: the words as one would type them.
quoted() {
    for word in "$@"; do
        case $word in
        '' | *[!A-Za-z0-9_./,=:@%+-]*) printf " '%s'" "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
}

# milliseconds: since some moment. Not every date knows parts of a second; the kernel knows hundredths.
milliseconds() {
    case $(date +%3N) in
    *[!0-9]*) awk '{ printf "%d", $1 * 1000 }' /proc/uptime ;;
    *) date +%s%3N ;;
    esac
}

# shown COMMAND ...: shows the command, its answer as it comes, and how long it took.
shown() {
    printf '\n$%s\n' "$(quoted "$@")"
    begun=$(milliseconds)
    "$@"
    printf '(%s ms)\n' "$(($(milliseconds) - begun))"
}

# until WHAT COMMAND ...: asks again and again, with a limit.
wait_until() {
    what=$1
    shift
    for _ in $(seq 1 200); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    say "waited in vain until $what"
    cat "$root"/*.log >&2
    exit 1
}
waiting() { [ "$(ls "$root/master/etc/salt/pki/master/minions_pre" 2>/dev/null | wc -l)" = 3 ]; }
answering() { salt '*' test.ping >/dev/null; }

salt-master >"$root/master.log" 2>&1 &
pids="$pids $!"
for id in web1 web2 db1; do
    salt-minion -c "$root/$id" >"$root/$id.log" 2>&1 &
    pids="$pids $!"
done
wait_until "three minions show their keys" waiting

shown salt-key -L
shown salt-key -y -A
wait_until "three minions answer" answering
shown salt '*' test.ping
shown salt '*' cmd.run 'echo "$(hostname) runs $(uname -sr)"'
shown salt 'web*' cmd.run 'echo $((6 * 7))'
shown salt -L 'web1,db1' grains.item id os
shown salt-run jobs.list_jobs
printf '\nThat was a master and three minions. Nothing of it is left.\n'
