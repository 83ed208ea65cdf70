#!/bin/sh
# Debian's NBD clients for the tests of raidsim serve: installed where that may be done. Where it may not, one line says
# so, and the tests that need them are skipped.
missing=
for pair in fio:fio nbdinfo:libnbd-bin nbdsh:python3-libnbd qemu-io:qemu-utils; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing NBD clients for the tests of raidsim serve:$missing" >&2
  log=$(mktemp)
  # shellcheck disable=SC2086 # several packages
  if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
    >"$log" 2>&1 </dev/null; then
    rm -f "$log"
    exit 0
  fi
  echo "no tests with real NBD clients:$missing could not be installed; $(tail -n 1 "$log")" >&2
  rm -f "$log"
  exit 0
fi
echo "no tests with real NBD clients: there is no$missing, and only root can install it (apt-get install$missing)" >&2
