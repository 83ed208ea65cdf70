#!/bin/sh
# Debian's chromium for the tests of the page in a browser: installed where that may be done. Where it may not, one line
# says so, and those tests are skipped; with RAIDSIM_REQUIRE_BROWSER=1 they fail then, and all others still run.
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing chromium for the browser tests" >&2
  log=$(mktemp)
  if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } \
    >"$log" 2>&1 </dev/null; then
    rm -f "$log"
    exit 0
  fi
  echo "no browser tests: chromium could not be installed; $(tail -n 1 "$log")" >&2
  rm -f "$log"
  exit 0
fi
echo "no browser tests: there is no chromium, and only root can install it (apt-get install chromium)" >&2
