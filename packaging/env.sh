# What a build and the tests need from the system. Sourced by demo.sh and test.sh; installs what is missing, as root.
#
# Debian's and Ubuntu's names are tried by every run of CI. Those of Fedora, openSUSE and Alpine are from their public
# package lists and not tried.

# have NAME: true when the program is there.
have() { command -v "$1" >/dev/null 2>&1; }

# say TEXT: a line for the user.
say() { printf '%s\n' "$*" >&2; }

sodium_archive() {
    for directory in /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/lib /usr/local/lib; do
        [ -f "$directory/libsodium.a" ] && { printf '%s\n' "$directory"; return 0; }
    done
    return 1
}

# need_packages: the C compiler, cmake (for NNG) and libsodium's static archive.
need_packages() {
    if have cc && have cmake && have make && sodium_archive >/dev/null; then return 0; fi
    if [ "$(id -u)" != 0 ]; then
        say "halite: a C compiler, cmake, make and libsodium's static archive are needed: install them, or run this as root"
        return 1
    fi
    say "halite: installing what the build needs"
    if have apt-get; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            gcc libc6-dev make cmake libsodium-dev >/dev/null
    elif have dnf; then # not tried
        dnf install -y -q gcc glibc-devel glibc-static make cmake libsodium-devel libsodium-static
    elif have zypper; then # not tried
        zypper -q install -y gcc glibc-devel glibc-devel-static make cmake libsodium-devel
    elif have apk; then # not tried
        apk add -q gcc musl-dev make cmake linux-headers libsodium-dev libsodium-static
    else
        say "halite: this system's package manager is not known here: install a C compiler, make, cmake and libsodium"
        return 1
    fi
    sodium_archive >/dev/null || { say "halite: libsodium.a is still missing after the installation"; return 1; }
}

# have_all NAME ...: true when all programs are there.
have_all() {
    for program; do have "$program" || return 1; done
}

# need_test_packages: the programs of others that tests use: what makes networks with a firewall, packages and archives,
# reads completions, manual pages and units, decrypts. Without it, or without root, those tests are left out and say so.
need_test_packages() {
    if [ "$(id -u)" != 0 ]; then return 0; fi
    if have_all nft ip rpm rpmbuild unshare bash zsh fish mandoc systemd-analyze gpg zip unzip bzip2 xz; then return 0; fi
    say "halite: installing what the tests need"
    if have apt-get; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            nftables iproute2 rpm util-linux bash zsh fish mandoc systemd gnupg zip unzip bzip2 xz-utils >/dev/null
    elif have dnf; then # not tried
        dnf install -y -q nftables iproute rpm-build util-linux bash zsh fish mandoc systemd gnupg2 zip unzip bzip2 xz
    elif have zypper; then # not tried
        zypper -q install -y nftables iproute2 rpm-build util-linux bash zsh fish mandoc systemd gpg2 zip unzip bzip2 xz
    elif have apk; then # not tried
        apk add -q nftables iproute2 rpm util-linux bash zsh fish mandoc gnupg zip unzip bzip2 xz
    fi
}

need_rust() {
    have cargo && return 0
    [ -x "$HOME/.cargo/bin/cargo" ] && { PATH="$HOME/.cargo/bin:$PATH"; return 0; }
    say "halite: cargo is missing: install Rust 1.89 or newer (https://rustup.rs, or your distribution's package)"
    return 1
}

# prepare: everything above, and where cargo finds libsodium.
prepare() {
    need_rust && need_packages || return 1
    SODIUM_LIB_DIR=${SODIUM_LIB_DIR:-$(sodium_archive)}
    export SODIUM_LIB_DIR
}
