"""``make golden``: the kept results on other processors and other versions of Python and numpy.

Other processors are played on this one: numpy, its BLAS library and the C library choose their code by what the
processor can do, and can be told to leave that unused. Of the Pythons those are tried that are found by name, each in
an environment of its own in .venv, with the newest numpy of constraints.txt and with the oldest allowed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("python3.11", "python3.12", "python3.13")
OLDEST = ("numpy==2.0.0", "scipy==1.13.0")
"""Which Python 3.13 has no builds of."""
PROCESSORS = {
    "as it is": {},
    "no AVX512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Haswell"},
    "no AVX, no FMA": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "OPENBLAS_CORETYPE": "Prescott",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F",
    },
    "other hashes": {"PYTHONHASHSEED": "5"},
}
"""Environments, by what they stand for."""


def main() -> None:
    """Run the tests everywhere, print a line each, and end with status 1 if they fail anywhere."""
    here = Path(sys.executable)
    failed = [name for name, variables in PROCESSORS.items() if not _same(name, here, variables)]
    for name in PYTHONS:
        for extra in ([], list(OLDEST)) if name != PYTHONS[-1] else ([],):
            python = _environment(name, extra)
            if python is None:
                print(f"{name}: not found, or without venv; not tried", flush=True)
                break
            label = " ".join([name, *extra])
            if not _same(label, python, {}):
                failed.append(label)
    sys.exit(f"other results: {', '.join(failed)}" if failed else 0)


def _same(name: str, python: Path, variables: dict[str, str]) -> bool:
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/golden/test_golden.py"]
    ended = subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=False, capture_output=True, text=True)
    print(f"{name}: {ended.stdout.strip().splitlines()[-1] if ended.stdout.strip() else ended.stderr}", flush=True)
    return ended.returncode == 0


def _environment(name: str, extra: list[str]) -> Path | None:
    """The interpreter of an environment with raidsim and what its tests need; None if there is no such Python."""
    found = shutil.which(name)
    if found is None or subprocess.run([found, "-c", "import venv"], check=False, capture_output=True).returncode:
        return None
    folder = ROOT / ".venv" / "-".join(["golden", name, *(["oldest"] if extra else [])])
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([found, "-m", "venv", str(folder)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    constraints = [] if extra else ["-c", "constraints.txt"]
    subprocess.run([*pip, "setuptools>=77"], cwd=ROOT, check=True)
    wanted = [*constraints, "-e", ".", "pytest>=9", "hypothesis>=6.100", *extra]
    subprocess.run([*pip, "--no-build-isolation", *wanted], cwd=ROOT, check=True)
    return python


if __name__ == "__main__":
    main()
