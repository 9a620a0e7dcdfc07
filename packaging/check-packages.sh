#!/bin/sh
# Tries the packages as hosts would: sh packaging/check-packages.sh [ROOT]
#
# As root on Debian or its kin, with debootstrap, lintian and rpm. The deb packages are installed, upgraded, removed and
# purged in a fresh root of Debian 12 (ROOT, if given, is one that debootstrap has made: it is copied), with a master and
# a minion that run; the rpm packages go into an empty root. Nothing of this host is changed.
set -eu

cd "$(dirname "$0")/.."
. packaging/env.sh

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

fail() {
    say "check-packages.sh: $*"
    exit 1
}

step() { say "== $*"; }

for tool in debootstrap lintian rpm rpmbuild; do have $tool || fail "$tool is missing"; done
[ "$(id -u)" = 0 ] || fail "only root can enter another root"

step "packages"
REVISION=1 sh packaging/package.sh deb "$work/first"
REVISION=2 sh packaging/package.sh deb "$work/second"
sh packaging/package.sh rpm "$work/rpm"

step "lintian"
lintian --fail-on error,warning --allow-root --tag-display-limit 0 "$work"/first/*.deb || fail "lintian is not content"

step "a root of Debian"
if [ -n "${1:-}" ]; then cp -a "$1" "$root"; else debootstrap --variant=minbase bookworm "$root" >/dev/null; fi
mkdir -p "$root/packages"
cp -r "$work/first" "$work/second" "$root/packages/"
cat >"$root/packages/run" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
fail() { echo "in the root: $*" >&2; cat /var/log/salt/* >&2 || true; exit 1; }
# within TEXT COMMAND...: the command succeeds within 30 s.
within() {
    what=$1 && shift
    tries=0
    until "$@" >/tmp/said 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 150 ] || { cat /tmp/said >&2; fail "in vain: $what"; }
        sleep 0.2
    done
}
runs() { [ -s "/var/run/salt-$1.pid" ] && kill -0 "$(cat "/var/run/salt-$1.pid")"; }
answers() { salt "*" test.ping --out=txt | grep -q True; }

# No init system runs in here: without this word nothing would be started.
printf '#!/bin/sh\nexit 0\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
mkdir -p /etc/salt/minion.d
printf 'master: 127.0.0.1\nid: web1\n' >/etc/salt/minion.d/here.conf
printf '# kept by hand\nauto_accept: true\n' >/etc/salt/master
echo '== installed'
dpkg -i /packages/first/*.deb
runs master || fail "the master does not run"
runs minion || fail "the minion does not run"
grep -q 'kept by hand' /etc/salt/master || fail "a configuration that was there is gone"
[ "$(stat -c %a /etc/salt/minion)" = 640 ] || fail "the sample of the minion is not there"
within "an answer" answers
dpkg --verify halite halite-master halite-minion || fail "files are not as they were packed"
echo '== upgraded'
echo '# by hand too' >>/etc/default/salt-minion
before=$(cat /var/run/salt-minion.pid)
dpkg -i /packages/second/*.deb </dev/null
[ "$(dpkg-query -W -f '${Version}' halite-minion | sed 's/.*-//')" = 2 ] || fail "it is the old revision"
grep -q 'by hand too' /etc/default/salt-minion || fail "a changed configuration file is gone"
[ "$(cat /var/run/salt-minion.pid)" != "$before" ] || fail "the minion was not started again"
within "an answer after the upgrade" answers
echo '== removed'
dpkg -r halite-minion halite-master halite
! runs minion || fail "the minion runs on"
! runs master || fail "the master runs on"
for file in /usr/bin/halite /usr/bin/salt /usr/bin/salt-call; do [ ! -e $file ] || fail "$file is left"; done
[ -f /etc/salt/minion ] && [ -f /etc/default/salt-minion ] || fail "configuration is gone that a removal keeps"
echo '== purged'
dpkg -P halite-minion halite-master halite
rm -f /etc/salt/minion.d/here.conf
left=$(find /etc /usr /var/cache /var/log /var/run /lib -path '/var/log/dpkg.log' -prune -o \( -iname '*halite*' -o -name '*salt*' \) -print | grep -v '^/var/log/apt' | sort | tr '\n' ' ')
[ "$left" = "/etc/salt " ] || fail "left: $left"
[ "$(find /etc/salt -type f | sed 's,[^/]*$,,' | sort -u | tr '\n' ' ')" = "/etc/salt/pki/master/ /etc/salt/pki/master/minions/ " ] || {
    find /etc/salt -type f >&2
    fail "more than the keys of the master is left, or less"
}
echo '== done'
END
unshare --mount --pid --fork --uts --net sh -c "mount --make-rprivate / && mount -t proc proc '$root/proc' && mount --bind /dev '$root/dev' && ip link set lo up && chroot '$root' sh /packages/run" || fail "the deb packages"

step "an empty root, for rpm"
empty=$work/empty
mkdir "$empty"
rpm --root "$empty" -i "$work"/rpm/*/*.rpm 2>/dev/null
rpm --root "$empty" -V halite halite-master halite-minion || fail "files are not as they were packed"
chroot "$empty" /usr/bin/salt-call --local test.ping --out=txt | grep -q True || fail "the program does not run in it"
echo 'id: kept' >"$empty/etc/salt/minion"
rpm --root "$empty" -e halite-minion halite-master halite 2>/dev/null
[ -e "$empty/etc/salt/minion.rpmsave" ] || fail "a changed configuration is gone"
[ ! -e "$empty/usr/bin/halite" ] || fail "the file is left"
step "all is well"
