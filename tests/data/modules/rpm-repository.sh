# Makes a host of the rpm kind out of a Debian 12 with dnf, dnf-plugins-core, zypper, createrepo-c, rpm, cpio and lsof (zypper
# and dnf-plugins-core are at odds over one file: dpkg --force-conflicts --force-overwrite): a repository in /srv/repo with
# groups, an environment, advisories and a pattern, and packages that are installed. All names, versions and times are made
# up. For compare.py and ../packages/record.py, in a root that is thrown away.
set -e
mkdir -p /etc/rpm /srv/repo /srv/work /etc/yum.repos.d /etc/zypp/repos.d /etc/products.d /var/lib/rpm
cat >/etc/rpm/macros <<'END'
%_dbpath /var/lib/rpm
%_topdir /srv/work
%_rpmdir /srv/repo
%_buildhost builder
%source_date_epoch_from_changelog 0
%clamp_mtime_to_source_date_epoch 1
%use_source_date_epoch_as_buildtime 1
END
export SOURCE_DATE_EPOCH=1700000000
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
# It would make a repository of its own of each package that was fetched.
sed -i "s/^enabled = true/enabled = false/" /etc/dnf/plugins/local.conf

# package NAME EPOCH VERSION ARCH [LINE...]: one that has a file and a configuration, with more lines of its head.
package() {
    name=$1 epoch=$2 version=$3 arch=$4; shift 4
    {
        printf 'Name: %s\nEpoch: %s\nVersion: %s\nRelease: 1\nBuildArch: %s\nSummary: %s %s\n' \
            "$name" "$epoch" "$version" "$arch" "$name" "$version"
        printf 'License: MIT\nGroup: Tools\nURL: http://h/%s\nVendor: V\nPackager: M <m@x>\n' "$name"
        printf '%s\n' "$@"
        printf '%%description\nWhat %s is.\nmore: of it\n' "$name"
        printf '%%install\nmkdir -p %%{buildroot}/usr/share/%s %%{buildroot}/etc\n' "$name"
        printf 'echo %s >%%{buildroot}/usr/share/%s/v\necho c >%%{buildroot}/etc/%s.conf\n' "$version" "$name" "$name"
        printf '%%files\n/usr/share/%s\n%%config(noreplace) /etc/%s.conf\n' "$name" "$name"
    } | grep -v '^Epoch: 0$' >/srv/work/p.spec
    rpmbuild -bb --quiet --target "$arch" /srv/work/p.spec >/dev/null 2>&1
}
package hello-h 0 1.0 noarch 'Provides: greeting = 1.0'
package hello-h 0 1.5 noarch 'Provides: greeting = 1.5'
package hello-h 0 2.0 noarch 'Provides: greeting = 2.0'
package extra-h 1 1.0 x86_64
package extra-h 1 1.2 x86_64
package dep-h 0 1.0 noarch 'Requires: hello-h'
package plus.h 0 3.0~rc1 noarch
package patterns-h 0 1 noarch 'Provides: pattern() = greeting' 'Provides: pattern-visible()' 'Provides: pattern-category() = Words'
package python3-dnf-plugin-versionlock 0 4.3.1 noarch
package release-h 0 9 noarch 'Provides: system-release = 9' 'Provides: system-release(releasever) = 9'

cat >/srv/work/comps.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<comps>
  <group><id>tools-h</id><name>Greeting Tools</name><description>What greets.</description>
    <default>true</default><uservisible>true</uservisible>
    <packagelist><packagereq type="mandatory">hello-h</packagereq><packagereq type="default">extra-h</packagereq>
      <packagereq type="optional">dep-h</packagereq></packagelist></group>
  <group><id>more-h</id><name>More Words</name><description></description>
    <default>false</default><uservisible>true</uservisible>
    <packagelist><packagereq type="mandatory">plus.h</packagereq></packagelist></group>
  <environment><id>all-h</id><name>All Of It</name><description>Both.</description><display_order>1</display_order>
    <grouplist><groupid>tools-h</groupid></grouplist><optionlist><groupid>more-h</groupid></optionlist></environment>
</comps>
END
advisory() {
    printf '<update from="a@x" status="stable" type="%s" version="1"><id>%s</id><title>%s title</title>' "$2" "$1" "$1"
    printf '<issued date="2024-01-02 03:04:05"/><severity>%s</severity><summary>about %s</summary>' "$3" "$4"
    printf '<description>what %s mends</description><references/><pkglist><collection short="c"><name>c</name>' "$1"
    printf '<package name="%s" version="%s" release="1" epoch="%s" arch="%s"><filename>%s.rpm</filename></package>' \
        "$4" "$5" "$6" "$7" "$4-$5-1.$7"
    printf '</collection></pkglist></update>\n'
}
{
    echo '<?xml version="1.0" encoding="UTF-8"?><updates>'
    advisory HS-2024:001 security Important hello-h 2.0 0 noarch
    advisory HB-2024:002 bugfix None extra-h 1.2 1 x86_64
    advisory HB-2023:009 bugfix Low hello-h 1.0 0 noarch
    echo '</updates>'
} >/srv/work/updateinfo.xml
createrepo_c -q -g /srv/work/comps.xml /srv/repo
modifyrepo_c --mdtype=updateinfo /srv/work/updateinfo.xml /srv/repo/repodata >/dev/null
rpm --force-debian --nodeps -i /srv/repo/noarch/hello-h-1.0-1.noarch.rpm /srv/repo/x86_64/extra-h-1.0-1.x86_64.rpm \
    /srv/repo/noarch/python3-dnf-plugin-versionlock-*.rpm /srv/repo/noarch/release-h-*.rpm
END_OF_REPO='[local]\nname=Local words\nbaseurl=file:///srv/repo\nenabled=1\ngpgcheck=0\n'
printf "# made by hand\n$END_OF_REPO# behind it\n" >/etc/yum.repos.d/local.repo
printf "[off]\nname=Off\nbaseurl=file:///srv/none\nenabled=0\ngpgcheck=0\n\n[two]\nname=Two\n baseurl = x\nmirrorlist=http://h/\n http://i/\nenabled=0\n" \
    >/etc/yum.repos.d/two.repo
printf "$END_OF_REPO""autorefresh=0\ntype=rpm-md\n" >/etc/zypp/repos.d/local.repo
cat >/etc/products.d/words.prod <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<product schemeversion="0"><vendor>V</vendor><name>words</name><version>9</version><release>1</release><arch>x86_64</arch>
  <productline>words</productline><summary>Words 9</summary><description>A product
    of words.</description><endoflife>2030-01-01</endoflife></product>
END
ln -sf words.prod /etc/products.d/baseproduct
