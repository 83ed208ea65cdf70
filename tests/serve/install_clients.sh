#!/bin/sh
# Debian's NBD clients for the tests of raidsim serve: installed where that may be done. Where it may not, one line says
# so, and the tests that need them are skipped.
missing=
for pair in fio:fio nbdinfo:libnbd-bin nbdsh:python3-libnbd qemu-io:qemu-utils; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
[ -z "$missing" ] && exit 0
# shellcheck disable=SC2086 # several packages
sh "$(dirname "$0")/../../benchmarks/packages.sh" "no tests with real NBD clients" $missing || true
