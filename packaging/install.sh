#!/bin/sh
# Puts Halite on a host and joins it to a master. Run it again as often as you like: what is right already is left alone.
#
#   sh install.sh --file ./halite --master 192.0.2.10                       on this host
#   sh install.sh --file ./halite --to root@web1 --master 192.0.2.10        on another one, over ssh
#   ssh root@web1 'cat >halite && chmod +x halite' <halite                  or by hand: the file over a pipe,
#   ssh root@web1 sh -s -- --file ./halite --master 192.0.2.10 <install.sh  then this script over another
#
# The host needs a shell and ssh's usual tools (cat, chmod, mkdir, mv, rm, id); nothing is downloaded.
set -eu

usage() {
    cat <<'END'
usage: install.sh --file HALITE [--to USER@HOST] [--master NAME] [--id ID] [--finger FINGERPRINT]
                  [--folder FOLDER] [--no-start]

  --file HALITE         the file that is installed
  --to USER@HOST        install there, over ssh, as root or as a user who may sudo without a password
  --master NAME         the master that the minion connects to; without it there is only the file
  --id ID               the minion's id; without it the name of the host
  --finger FINGERPRINT  the fingerprint of the master's key, as `salt-key -F` shows it; another master is refused
  --folder FOLDER       where the programs are put; /usr/local/bin without it
  --no-start            leave the service alone
END
}

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

# A word that stands in a file of YAML and on a command line of ssh: nothing that either would read as more than a word.
plain() {
    case $2 in
    '' | *[!A-Za-z0-9._:@/,+=-]*) fail "$1 takes letters, digits and . _ : @ / , + = - only, not '$2'" ;;
    esac
}

file='' to='' master='' id='' finger='' folder=/usr/local/bin start=yes
while [ $# -gt 0 ]; do
    case $1 in
    --file | --to | --master | --id | --finger | --folder)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
        --file) file=$2 ;;
        --to) plain "$1" "$2" && to=$2 ;;
        --master) plain "$1" "$2" && master=$2 ;;
        --id) plain "$1" "$2" && id=$2 ;;
        --finger) plain "$1" "$2" && finger=$2 ;;
        --folder) plain "$1" "$2" && folder=$2 ;;
        esac
        shift 2
        ;;
    --no-start) start=no && shift ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 64 ;;
    esac
done
[ -n "$file" ] || { usage >&2 && exit 64; }
[ -f "$file" ] || fail "there is no file $file"
case $to in -*) fail "--to takes a host, not an option" ;; esac

# over_ssh: the file goes first, under a name of its own; then this script runs there.
over_ssh() {
    words="--folder $folder"
    [ -z "$master" ] || words="$words --master $master"
    [ -z "$id" ] || words="$words --id $id"
    [ -z "$finger" ] || words="$words --finger $finger"
    [ "$start" = yes ] || words="$words --no-start"
    # shellcheck disable=SC2029 # the names are this side's
    place=$(ssh "$to" 'umask 077 && d=$(mktemp -d) && cat >"$d/halite" && echo "$d"' <"$file") || fail "the file cannot be copied to $to"
    plain "the folder of $to" "$place"
    ssh "$to" "if [ \"\$(id -u)\" = 0 ]; then as=; else as='sudo -n'; fi; \$as sh -s -- --file $place/halite $words; code=\$?; rm -rf $place; exit \$code" <"$0"
}

# put FILE: standard input becomes the file, in one step, unless it says so already. True if it changed.
put() {
    new=$1.halite-new
    cat >"$new"
    if [ -f "$1" ] && [ "$(cat "$1")" = "$(cat "$new")" ]; then
        rm -f "$new"
        return 1
    fi
    mv "$new" "$1"
}

# programs: the file and its links.
programs() {
    chmod 755 "$file" || fail "$file cannot be made executable"
    version=$("$file" --version) || fail "$file does not run on this host"
    "$file" install "$folder" || fail "the programs cannot be put into $folder"
    printf '%s is in %s\n' "$version" "$folder"
}

# configuration: one file beside the administrator's own. What it says it says over the others.
configuration() {
    mkdir -p /etc/salt/minion.d
    [ -e /etc/salt/minion ] || "$folder/halite" generate config /etc/salt
    {
        printf '# Written by install.sh, and again by its next run.\nmaster: %s\n' "$master"
        [ -z "$id" ] || printf 'id: %s\n' "$id"
        [ -z "$finger" ] || printf "master_finger: '%s'\n" "$finger"
    } | put /etc/salt/minion.d/00-install.conf && changed=yes
    return 0
}

# service: what starts the minion at boot. Of what the host has the first that fits.
service() {
    rm -rf /etc/salt/.services
    "$folder/halite" generate services /etc/salt/.services
    if [ -d /run/systemd/system ]; then
        while IFS= read -r line; do
            case $line in "ExecStart=/usr/bin/"*) line="ExecStart=$folder/${line#*=/usr/bin/}" ;; esac
            printf '%s\n' "$line"
        done </etc/salt/.services/systemd/salt-minion.service | put /etc/systemd/system/salt-minion.service && changed=yes
        rm -rf /etc/salt/.services
        [ "$start" = yes ] || return 0
        systemctl daemon-reload
        systemctl enable salt-minion.service
        if [ "$changed" = yes ]; then systemctl restart salt-minion.service; else systemctl start salt-minion.service; fi
        return
    fi
    if [ -x /sbin/openrc-run ]; then
        mkdir -p /etc/conf.d
        [ -e /etc/conf.d/salt-minion ] || printf 'command=%s/salt-minion\n' "$folder" | put /etc/conf.d/salt-minion
        kind=openrc
    else
        mkdir -p /etc/default
        [ -e /etc/default/salt-minion ] || printf 'DAEMON=%s/salt-minion\n' "$folder" | put /etc/default/salt-minion
        kind=init.d
    fi
    mkdir -p /etc/init.d
    put /etc/init.d/salt-minion </etc/salt/.services/$kind/salt-minion && changed=yes
    chmod 755 /etc/init.d/salt-minion
    rm -rf /etc/salt/.services
    if command -v rc-update >/dev/null 2>&1; then
        rc-update add salt-minion default
    elif command -v update-rc.d >/dev/null 2>&1; then
        update-rc.d salt-minion defaults
    elif command -v chkconfig >/dev/null 2>&1; then
        chkconfig --add salt-minion
    else
        printf 'nothing here starts services at boot: /etc/init.d/salt-minion start does it\n'
    fi
    [ "$start" = yes ] || return 0
    if [ "$changed" = yes ] && /etc/init.d/salt-minion status >/dev/null 2>&1; then
        /etc/init.d/salt-minion restart
    elif ! /etc/init.d/salt-minion status >/dev/null 2>&1; then
        /etc/init.d/salt-minion start
    fi
}

if [ -n "$to" ]; then
    over_ssh
    exit
fi
[ "$(id -u)" = 0 ] || fail "only root can install a service"
changed=no
before=$("$folder/halite" --version 2>/dev/null || true)
programs
[ "$before" = "$version" ] || changed=yes
[ -n "$master" ] || exit 0
configuration
service
printf 'the minion shows its key to %s: accept it there with salt-key -a %s\n' "$master" "${id:-ID}"
"$folder/salt-call" --local --out=txt key.finger 2>/dev/null || true
