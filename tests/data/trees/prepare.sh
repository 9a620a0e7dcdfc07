#!/bin/sh
# Makes what all trees build upon, in a root that is thrown away: an archive of packages below /srv/repo, which APT knows.
set -e
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=1700000000

# Before runlevels are asked for: a root has none.
printf '#!/bin/sh\necho N 2\n' >/usr/local/bin/runlevel
chmod 755 /usr/local/bin/runlevel

# package NAME VERSION [CONTROL LINE...]: makes it from the files in ./NAME.
package() {
    name=$1 version=$2
    shift 2
    mkdir -p "$name/DEBIAN"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@example.com>\n' "$name" "$version"
        for line in "$@"; do printf '%s\n' "$line"; done
        printf 'Description: %s, as far as a tree needs it\n' "$name"
    } >"$name/DEBIAN/control"
    if [ -d "$name/etc" ]; then (cd "$name" && find etc -type f | sort | sed 's|^|/|') >"$name/DEBIAN/conffiles"; fi
    find "$name" -exec touch -h -d @$SOURCE_DATE_EPOCH {} +
    dpkg-deb --root-owner-group -b "$name" "/srv/repo/${name}_$version.deb" >/dev/null
    rm -r "$name"
}

# daemon NAME: a daemon that sleeps, with the init script of its time.
daemon() {
    mkdir -p "$1/etc/init.d" "$1/usr/sbin" "$1/DEBIAN"
    printf '#!/bin/sh\nexec sleep infinity\n' >"$1/usr/sbin/$1"
    sed "s/DAEMON/$1/g" >"$1/etc/init.d/$1" <<'END'
#!/bin/sh
### BEGIN INIT INFO
# Provides:          DAEMON
# Required-Start:    $remote_fs
# Required-Stop:     $remote_fs
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# Short-Description: DAEMON
### END INIT INFO
pid=/run/DAEMON.pid
case "$1" in
    start) start-stop-daemon -S -q -o -b -m -p $pid -x /bin/sleep -- infinity; echo started >>/run/DAEMON.history ;;
    stop) start-stop-daemon -K -q -o --remove-pidfile -p $pid -x /bin/sleep; echo stopped >>/run/DAEMON.history ;;
    restart) "$0" stop; "$0" start ;;
    reload | force-reload) echo reloaded >>/run/DAEMON.history ;;
    status) start-stop-daemon -T -p $pid -x /bin/sleep ;;
    *) exit 3 ;;
esac
END
    chmod 755 "$1/etc/init.d/$1" "$1/usr/sbin/$1"
    printf '#!/bin/sh\nset -e\nif [ "$1" = configure ]; then update-rc.d %s defaults >/dev/null; fi\n' "$1" >"$1/DEBIAN/postinst"
    printf '#!/bin/sh\nset -e\nif [ "$1" = remove ]; then /etc/init.d/%s stop; fi\n' "$1" >"$1/DEBIAN/prerm"
    printf '#!/bin/sh\nset -e\nif [ "$1" = purge ]; then update-rc.d %s remove >/dev/null; fi\n' "$1" >"$1/DEBIAN/postrm"
    chmod 755 "$1/DEBIAN/postinst" "$1/DEBIAN/prerm" "$1/DEBIAN/postrm"
}

mkdir -p /srv/repo /tmp/build
cd /tmp/build
mkdir -p libserve/usr/lib/serve
echo library >libserve/usr/lib/serve/library
package libserve 1.0
for version in 1.1 1.2; do
    daemon webd
    mkdir -p webd/etc/webd/conf.d webd/var/www
    printf 'port 80\nroot /var/www\n# workers 4\nlog off\n' >webd/etc/webd/webd.conf
    echo "$version" >webd/var/www/version
    package webd $version 'Depends: libserve' 'Section: web'
done
daemon dbd
mkdir -p dbd/etc/dbd
printf '[server]\nport = 5432\nbind = 127.0.0.1\n\n[log]\nlevel = info\n' >dbd/etc/dbd/dbd.ini
package dbd 9.6 'Section: database'
daemon maild
mkdir -p maild/etc/maild
printf 'myhostname=localhost\n#relayhost=\nmynetworks=127.0.0.0/8\n' >maild/etc/maild/main.cf
package maild 3.5 'Provides: mail-transport-agent' 'Section: mail'
for version in 1.0 2.0; do
    mkdir -p tool/usr/bin tool/usr/share/tool
    printf '#!/bin/sh\necho tool %s\n' $version >tool/usr/bin/tool
    chmod 755 tool/usr/bin/tool
    package tool $version
done
for name in editor-a editor-b; do
    mkdir -p $name/usr/bin
    printf '#!/bin/sh\necho %s\n' $name >$name/usr/bin/$name
    chmod 755 $name/usr/bin/$name
    package $name 1.0
done
mkdir -p asker/DEBIAN
printf 'Template: asker/domain\nType: string\nDefault: example.com\nDescription: The domain:\n The domain of this host.\n\nTemplate: asker/agree\nType: boolean\nDefault: false\nDescription: Do you agree?\n Say so.\n' >asker/DEBIAN/templates
printf '#!/bin/sh\nset -e\n. /usr/share/debconf/confmodule\ndb_get asker/domain\necho "$RET" >/etc/asker.domain\n' >asker/DEBIAN/postinst
chmod 755 asker/DEBIAN/postinst
package asker 1.0 'Depends: debconf'
# What trees unpack, clone and fetch.
mkdir -p app-1.0/lib
echo 'application' >app-1.0/app
echo 'part' >app-1.0/lib/part
ln -s lib/part app-1.0/part
tar -C /tmp/build --sort=name --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner -czf /srv/release.tar.gz app-1.0
(cd /srv && sha256sum release.tar.gz >release.tar.gz.sha256)
export GIT_AUTHOR_DATE="$SOURCE_DATE_EPOCH +0000" GIT_COMMITTER_DATE="$SOURCE_DATE_EPOCH +0000"
git -c init.defaultBranch=main init -q app
cd app
git config user.name Nobody
git config user.email nobody@example.com
echo one >release
git add release
git commit -q -m one
git tag v1
echo two >release
git commit -q -a -m two
git clone -q --bare . /srv/app.git
cd /srv/repo
for deb in *.deb; do
    dpkg-deb -f "$deb"
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$deb" "$(stat -c %s "$deb")" "$(sha256sum "$deb" | cut -d' ' -f1)"
done >Packages
rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/* /tmp/build
# It has no key.
printf 'Acquire::AllowInsecureRepositories "true";\nAPT::Get::AllowUnauthenticated "true";\n' >/etc/apt/apt.conf.d/10local
echo 'deb file:/srv/repo ./' >/etc/apt/sources.list
apt-get -q update >/dev/null
