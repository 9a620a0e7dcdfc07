#!/bin/sh
# Makes packages of the static binary: sh packaging/package.sh deb|rpm|tar [DIRECTORY]
#
# The file that HALITE names is packed, else the release build. DIRECTORY is where the packages are put, target/packages
# without it. REVISION counts packages of one version; COMPRESSION is deb's (xz, zstd, gzip); none packs no kind hard. What
# each kind needs: dpkg-deb; rpmbuild; tar.
#
# Three packages: halite is the file and all that is about it; halite-master and halite-minion are the service of each,
# with its configuration. Who wants only `salt-call` or the clients needs the first alone.
set -eu

cd "$(dirname "$0")/.."
. packaging/env.sh

fail() {
    say "package.sh: $*"
    exit 1
}

kind=${1:-}
out=${2:-target/packages}
case $kind in
deb) have dpkg-deb || fail "dpkg-deb is missing: this makes Debian's packages on Debian and its kin" ;;
rpm) have rpmbuild || fail "rpmbuild is missing: it is in the package rpm-build, on Debian rpm" ;;
tar) ;;
*) fail "usage: package.sh deb|rpm|tar [DIRECTORY]" ;;
esac

binary=${HALITE:-$(find target -maxdepth 3 -type f -path '*release/halite' 2>/dev/null | head -n 1)}
[ -x "$binary" ] || fail "there is no release build: cargo build --release makes one, or HALITE names another file"
version=$("$binary" --version) || fail "$binary does not run here"
version=${version##* }
version=${version%-halite}
revision=${REVISION:-1}
level=9
[ "${COMPRESSION:-}" != none ] || level=1
# Packages of one source are the same whenever they are made.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
date=$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')
machine=$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd)
umask 022

# put MODE FILE PLACE: a file into a package's tree, its directories made.
put() {
    mkdir -p "$(dirname "$3")"
    cp "$2" "$3"
    chmod "$1" "$3"
}

# pages DIRECTORY: the manual pages, packed.
pages() {
    mkdir -p "$1/usr/share/man/man1"
    for page in packaging/man/*.1; do gzip -9nc "$page" >"$1/usr/share/man/man1/$(basename "$page").gz"; done
}

# programs TREE: the file, its links, and what is about all of them.
programs() {
    mkdir -p "$1/usr/bin" "$1/etc/salt" "$1/var/cache/salt" "$1/var/log/salt"
    "$binary" install "$1/usr/bin"
    pages "$1"
    for file in packaging/completions/bash/*; do put 644 "$file" "$1/usr/share/bash-completion/completions/$(basename "$file")"; done
    for file in packaging/completions/zsh/*; do put 644 "$file" "$1/usr/share/zsh/vendor-completions/$(basename "$file")"; done
    for file in packaging/completions/fish/*; do put 644 "$file" "$1/usr/share/fish/vendor_completions.d/$(basename "$file")"; done
    put 644 packaging/logrotate.d/salt "$1/etc/logrotate.d/salt"
    put 644 packaging/sysusers.d/salt.conf "$1/usr/lib/sysusers.d/salt.conf"
    put 644 packaging/tmpfiles.d/salt.conf "$1/usr/lib/tmpfiles.d/salt.conf"
}

make_deb() {
    for package in halite halite-master halite-minion; do
        tree=$work/$package
        docs=$tree/usr/share/doc/$package
        mkdir -p "$tree/DEBIAN" "$docs"
        role=${package#halite-}
        if [ "$package" = halite ]; then
            programs "$tree"
            gzip -9nc CHANGELOG.md >"$docs/changelog.gz"
        else
            put 644 "packaging/services/systemd/salt-$role.service" "$tree/usr/lib/systemd/system/salt-$role.service"
            put 755 "packaging/services/init.d/salt-$role" "$tree/etc/init.d/salt-$role"
            put 644 "packaging/default/salt-$role" "$tree/etc/default/salt-$role"
            put 644 "packaging/etc/$role" "$tree/usr/share/halite/$role"
            mkdir -p "$tree/etc/salt/$role.d"
            for script in postinst prerm postrm; do
                sed "s/@ROLE@/$role/g" "packaging/deb/$script" >"$tree/DEBIAN/$script"
                chmod 755 "$tree/DEBIAN/$script"
            done
        fi
        put 644 packaging/deb/copyright "$docs/copyright"
        printf '%s (%s) stable; urgency=medium\n\n  * See changelog.gz of the package halite.\n\n -- %s  %s\n' \
            "$package" "$version-$revision" "$(sed -n 's/^Maintainer: //p' packaging/deb/control.halite)" "$date" |
            gzip -9nc >"$docs/changelog.Debian.gz"
        mkdir -p "$tree/usr/share/lintian/overrides"
        {
            sed "s/@PACKAGE@/$package/g" packaging/deb/lintian-overrides
            # Linked statically, at an address that is chosen when it starts, it needs no library.
            [ "$package" != halite ] || echo 'halite: shared-library-lacks-prerequisites [usr/bin/halite]'
        } >"$tree/usr/share/lintian/overrides/$package"
        # What dpkg asks about before it replaces what an administrator has changed.
        (cd "$tree" && find etc -type f | sort | sed 's,^,/,') >"$tree/DEBIAN/conffiles"
        (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -print | sort | sed 's,^\./,,' | xargs md5sum) >"$tree/DEBIAN/md5sums"
        size=$(du -k -s --apparent-size --exclude=DEBIAN "$tree" | cut -f 1)
        sed "s/@VERSION@/$version-$revision/; s/@SIZE@/$size/; s/@ARCHITECTURE@/$(dpkg --print-architecture)/" \
            "packaging/deb/control.$package" >"$tree/DEBIAN/control"
        dpkg-deb --root-owner-group "-Z${COMPRESSION:-xz}" --build "$tree" "$out" >/dev/null
    done
    ls "$out"/halite*_"$version-$revision"_*.deb
}

make_rpm() {
    tree=$work/tree
    programs "$tree"
    mkdir -p "$tree/usr/share/zsh"
    mv "$tree/usr/share/zsh/vendor-completions" "$tree/usr/share/zsh/site-functions"
    for role in master minion; do
        put 644 "packaging/services/systemd/salt-$role.service" "$tree/usr/lib/systemd/system/salt-$role.service"
        put 644 "packaging/default/salt-$role" "$tree/etc/sysconfig/salt-$role"
        put 640 "packaging/etc/$role" "$tree/etc/salt/$role"
        mkdir -p "$tree/etc/salt/$role.d"
    done
    put 644 LICENSE "$tree/usr/share/licenses/halite/LICENSE"
    put 644 vendor/nng-sys/nng/LICENSE.txt "$tree/usr/share/licenses/halite/LICENSE.nng"
    rpmbuild -bb --quiet --target "$machine" \
        --define "_topdir $work/rpm" --define "_rpmdir $out" --define "halite_version $version" \
        --define "halite_revision $revision" \
        --define "_binary_payload w$level.gzdio" --define "halite_tree $tree" --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" packaging/rpm/halite.spec
    ls "$out/$machine"/halite*-"$version-$revision".*.rpm
}

make_tar() {
    name=halite-$version-$machine-linux
    tree=$work/$name
    mkdir -p "$tree"
    put 755 "$binary" "$tree/halite"
    for file in README.md CHANGELOG.md LICENSE packaging/install.sh; do put 644 "$file" "$tree/$(basename "$file")"; done
    for directory in man completions etc services default logrotate.d sysusers.d tmpfiles.d; do cp -R "packaging/$directory" "$tree/"; done
    cp -R docs "$tree/docs"
    tar -C "$work" --owner=0 --group=0 --numeric-owner --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
        gzip -${level}n >"$out/$name.tar.gz"
    (cd "$out" && sha512sum "$name.tar.gz") >"$out/$name.tar.gz.sha512"
    sed "s/@VERSION@/$version/; s/@SHA512@/$(cut -d ' ' -f 1 "$out/$name.tar.gz.sha512")/" packaging/apk/APKBUILD >"$out/APKBUILD"
    ls "$out/$name.tar.gz" "$out/APKBUILD"
}

"make_$kind"
