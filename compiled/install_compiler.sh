#!/bin/sh
# install_compiler.sh PYTHON: a C compiler and the headers of that Python, for the compiled modules. Where they cannot be
# had, raidsim runs without.
python=$1
version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
missing=
command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || missing="gcc libc6-dev"
[ -e "$include/Python.h" ] || missing="$missing $version-dev"
[ -z "$missing" ] && exit 0
# shellcheck disable=SC2086 # several packages
sh "$(dirname "$0")/../benchmarks/packages.sh" "nothing is compiled, so all takes about twice as long" $missing
exit 0
