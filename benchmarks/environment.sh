#!/bin/sh
# environment.sh PYTHON: makes .venv of that Python. Debian has what brings pip into an environment in a package of its
# own (python3.11-venv), which is installed where that may be done; else the pip of the system does it.
python=$1
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "raidsim needs Python 3.11 or newer, not $python; another one: make PYTHON=python3.12 ..." >&2
  exit 1
}
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
  if "$python" -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --without-pip .venv && "$python" -m pip --python .venv/bin/python install --quiet pip && exit 0
    rm -rf .venv
  fi
  version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  sh "$(dirname "$0")/packages.sh" "no environment for raidsim" "$version-venv" || exit 1
fi
"$python" -m venv .venv || {
  rm -rf .venv
  exit 1
}
