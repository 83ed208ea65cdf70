#!/bin/sh
# packages.sh WITHOUT PACKAGE...: Debian's packages, installed where that may be done: by root, unless NO_INSTALL is set.
# Where it may not, one line says what is not there WITHOUT them and how to install them, and the status is 1.
without=$1
shift
if [ -n "$NO_INSTALL" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "$without: apt-get install $* (as root)" >&2
  exit 1
fi
echo "installing $*" >&2
# One apt-get at a time.
command -v flock >/dev/null 2>&1 && exec 9>"${TMPDIR:-/tmp}/raidsim-packages.lock" && flock 9
log=$(mktemp)
if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null
then
  rm -f "$log"
  exit 0
fi
echo "$without: $* could not be installed; $(tail -n 1 "$log")" >&2
rm -f "$log"
exit 1
