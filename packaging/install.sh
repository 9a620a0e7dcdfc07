#!/bin/sh
# Puts Halite on a host and joins it to a master. Run it again as often as you like: what is right already is left alone.
#
#   sh install.sh --file ./halite --master 192.0.2.10                    on this host
#   sh install.sh --file ./halite --to root@web1 --master 192.0.2.10     on another one, over ssh
#
# By hand it is one command too, with a pipe in the place of this script:
#
#   ssh root@web1 'cat >halite && chmod +x halite && ./halite install /usr/local/bin --master 192.0.2.10' <halite
#
# The other host needs a shell, cat, chmod, mktemp and rm; nothing is downloaded. All but the copy is done by the file itself:
# `halite install --help`.
set -eu

usage() {
    cat <<'END'
usage: install.sh --file HALITE [--to USER@HOST] [--directory DIRECTORY] [--master NAME] [--id ID] [--finger FINGERPRINT]
                  [--no-start]

  --file HALITE         the file that is installed
  --to USER@HOST        install there, over ssh, as root or as a user who may sudo without a password
  --directory DIRECTORY where the programs are put; /usr/local/bin without it
  --master NAME         the master that the minion connects to; without it there is only the file
  --id ID               the minion's id; without it the name of the host
  --finger FINGERPRINT  the fingerprint of the master's key, as `salt-key -F` shows it; another master is refused
  --no-start            set the service up, but start nothing
END
}

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

# A word that goes through the shell of another host: nothing that it would read as more than a word.
plain() {
    case $2 in
    '' | -* | *[!A-Za-z0-9._:@/+=,-]*) fail "$1 takes letters, digits and . _ : @ / + = , - only, not '$2'" ;;
    esac
}

file='' to='' directory=/usr/local/bin words=''
while [ $# -gt 0 ]; do
    case $1 in
    --file | --to | --directory | --master | --id | --finger)
        [ $# -ge 2 ] || fail "$1 needs a value"
        [ "$1" = --file ] || plain "$1" "$2"
        case $1 in
        --file) file=$2 ;;
        --to) to=$2 ;;
        --directory) directory=$2 ;;
        *) words="$words $1 $2" ;;
        esac
        shift 2
        ;;
    --no-start) words="$words $1" && shift ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 64 ;;
    esac
done
[ -n "$file" ] || { usage >&2 && exit 64; }
[ -f "$file" ] || fail "there is no file $file"

if [ -z "$to" ]; then
    chmod +x "$file" || fail "$file cannot be made executable"
    case $file in */*) ;; *) file=./$file ;; esac
    # shellcheck disable=SC2086 # each is a plain word
    exec "$file" install "$directory" $words
fi

# The file goes first, into a directory of its own that nobody else can write to.
place=$(ssh "$to" 'umask 077 && d=$(mktemp -d) && cat >"$d/halite" && chmod 700 "$d/halite" && echo "$d"' <"$file") ||
    fail "the file cannot be copied to $to"
plain "the directory of $to" "$place"
ssh "$to" "as=; [ -w /etc ] || as='sudo -n'; \$as $place/halite install $directory$words; code=\$?; rm -rf $place; exit \$code" </dev/null
