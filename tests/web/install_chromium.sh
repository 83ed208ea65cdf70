#!/bin/sh
# Debian's chromium for the tests of the page in a browser: installed where that may be done. Where it may not, one line
# says so, and those tests are skipped; with RAIDSIM_REQUIRE_BROWSER=1 they fail then, and all others still run.
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
sh "$(dirname "$0")/../../benchmarks/packages.sh" "no browser tests" chromium || true
