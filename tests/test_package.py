"""The package as it is built, installed and started."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import types
import zipfile
from pathlib import Path

import pytest
import yaml

import raidsim

ROOT = Path(raidsim.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
NOT_PACKAGED = {"tests", "docs", "benchmarks", "build", "dist"}
LONGEST_FILE = 400
ONE_IDEA = {
    "model/disk/hard_disk.py": "one drive: a step of a command a method; its parts are other files",
    "model/solid_state/drive.py": "one drive: a step of a command a method; its parts are other files",
    "model/controller/controller.py": "one controller: a command from the host to its answer, and what it counts",
    "model/core/extents.py": "one set of bytes, by how many extents it has: one, a list of them, lists",
    "model/links/link.py": "one ledger of reserved bus time, and the kinds of link that book in it",
    "model/raid/parity/array.py": "one array: reads, writes, flushes and resync of a level, each in other files",
    "model/raid/parity_6_1/stripe_handler.py": "one state machine: stripe heads from a write to its answer",
    "scenarios/machine/assemble.py": "one assembly: a method for each kind of plan, which makes the part",
    "scenarios/machine/parts.py": "one vocabulary: the plans of parts, each a record without behaviour",
}
"""Files of more than `LONGEST_FILE` lines, each with the reason why it is one idea."""


def project_files() -> list[Path]:
    """The files of the checkout, without what is built or fetched, and without a worktree's .git."""
    found: list[Path] = []
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [
            name
            for name in subfolders
            if name not in {"__pycache__", "build", "dist", "_build", "profiles"}
            and not name.endswith(".egg-info")
            and (not name.startswith(".") or name == ".ci")
        ]
        found += [Path(folder, name) for name in names if name != ".git"]
    return sorted(found)


def package_files(suffixes: tuple[str, ...]) -> list[Path]:
    """Files with one of the suffixes that belong into the installed package."""
    relative = [path.relative_to(ROOT) for path in project_files()]
    return [
        path
        for path in relative
        if path.suffix in suffixes and path.parts[0] not in NOT_PACKAGED and len(path.parts) > 1
    ]


def test_the_list_of_packages_is_the_folders() -> None:
    """Protects the wheel from missing a folder that the editable install finds anyway."""
    folders = {path.parent for path in package_files((".py",))}
    names = {".".join(("raidsim", *folder.parts)) for folder in folders}
    assert set(SETUPTOOLS["packages"]) == names | {"raidsim"}
    assert all((ROOT / folder / "__init__.py").is_file() for folder in folders)
    assert SETUPTOOLS["packages"] == sorted(SETUPTOOLS["packages"])


def test_every_data_file_is_declared() -> None:
    """Protects data (drives, kernels, studies, truth) from being left out of the wheel."""
    declared: set[Path] = set()
    for package, patterns in SETUPTOOLS["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        declared |= {path.relative_to(ROOT) for pattern in patterns for path in folder.glob(pattern)}
    data = package_files((".yaml", ".yml", ".json", ".txt", ".csv", ".gz", ".fio"))
    assert data
    assert set(data) - declared == set()


def test_the_console_command_is_there() -> None:
    """Protects `raidsim` itself: the entry point of the installed package leads to the main function."""
    (entry,) = [e for e in importlib.metadata.entry_points(group="console_scripts") if e.name == "raidsim"]
    from raidsim.cli.main import main

    assert entry.load() is main
    assert importlib.metadata.version("raidsim") == raidsim.__version__


def test_all_names_exist_and_nothing_else_is_public() -> None:
    """Protects the public API: the root has what `__all__` says and nothing else, and every `__all__` is true."""
    public = {
        name
        for name, value in vars(raidsim).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public <= {"annotations", "TYPE_CHECKING", "Any"}
    assert all(getattr(raidsim, name) is not None for name in raidsim.__all__)
    for path in package_files((".py",)):
        if "__all__" in (ROOT / path).read_text(encoding="utf-8"):
            parts = path.with_suffix("").parts
            name = ".".join(("raidsim", *(parts[:-1] if parts[-1] == "__init__" else parts)))
            module = importlib.import_module(name)
            assert all(hasattr(module, exported) for exported in module.__all__), name
            assert len(set(module.__all__)) == len(module.__all__), name


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_nothing_heavy(option: str) -> None:
    """Protects an answer in a tenth of a second: help and version start without numpy, pydantic, rich and others."""
    code = (
        f"import sys; sys.argv = ['raidsim', '{option}']\n"
        "from raidsim.cli.main import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "typer" in loaded
    assert loaded & {"numpy", "scipy", "pydantic", "simpy", "rich", "yaml", "matplotlib"} == set()
    assert raidsim.__version__ in done.stdout or "predict" in done.stdout


def test_no_file_names_a_registry_or_a_machine() -> None:
    """Protects readers elsewhere from paths and hosts that exist on one machine only."""
    hosts = ["pypi" + ".org", "pythonhosted" + ".org", "/opt/" + "wheels", "../" + "shared", "bash_" + "jobs"]
    pattern = re.compile("|".join(map(re.escape, hosts)) + r"|(?<![\w.])/(?:work|root|home)" + r"/\w")
    wrong = []
    for path in project_files():
        if path.suffix in {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".cfg", ".html", ""} and path.is_file():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if pattern.search(line):
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert wrong == []


def test_files_stay_short_enough_to_read() -> None:
    """Protects the newcomer: a file has at most 400 lines, unless the list says why it is one idea all the same."""
    lengths = {
        path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in package_files((".py",))
    }
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE and path not in ONE_IDEA} == {}
    shorter = [path for path in ONE_IDEA if lengths.get(path, 0) <= LONGEST_FILE]
    assert shorter == [], "no longer above the limit: take them off the list"
    assert all(len(reason) > 20 for reason in ONE_IDEA.values())


def test_continuous_integration_runs_what_the_readme_says() -> None:
    """Protects the promise that the command in the README is the one that is checked."""
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_workflow_runs_it_and_the_quick_tests_on_every_python() -> None:
    """Protects the workflow from a slip that shows only after a push: it parses, and runs what the project says."""
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    workflow = yaml.load(text, Loader=yaml.BaseLoader)  # all values as text, "on" too
    assert set(workflow) >= {"name", "on", "permissions", "jobs"}
    everything, quick = workflow["jobs"]["all"], workflow["jobs"]["quick"]
    for job in (everything, quick):
        assert job["runs-on"].startswith("ubuntu")
        for step in job["steps"]:
            assert len({"uses", "run"} & set(step)) == 1
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/checkout@v1"))
    assert everything["steps"][-1] == {"run": ".ci/run"}
    assert quick["steps"][-1]["run"] in (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    pythons = quick["strategy"]["matrix"]["python"]
    assert pythons == [f"3.{minor}" for minor in range(11, 11 + len(pythons))]
    said = {line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line}
    assert said <= set(pythons)


def test_constraints_pin_every_dependency() -> None:
    """Protects repeatable installs: each direct dependency has exactly one version, and no address is in the file."""
    lines = [
        line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    assert len(pinned) == len(lines)
    extras = PROJECT["project"]["optional-dependencies"]
    named = [item for items in extras.values() for item in items if not item.startswith("raidsim[")]
    wanted = [*PROJECT["project"]["dependencies"], *named]
    names = {re.split(r"[<>=\[ ;]", item)[0].lower().replace("_", "-") for item in wanted}
    assert names - pinned == set()


def test_the_extra_all_has_every_extra_for_users() -> None:
    """Protects `pip install 'raidsim[all]'`: it brings what each extra for users brings, and no tool of developers."""
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.findall(r"[a-z]+", everything.partition("[")[2]))
    assert named == set(extras) - {"all", "compiled", "dev", "docs", "fuzz"}


def _distribution(requirement: str) -> str:
    return re.split(r"[<>=\[ ;]", requirement)[0].lower().replace("_", "-")


@pytest.mark.parametrize("package", ["model", "scenarios", "calibration", "validation", "api", "serve", "cli"])
def test_what_is_imported_with_the_package_is_a_dependency(package: str) -> None:
    """Protects a plain install: a distribution that only an extra or a tool brings is imported where it is used."""
    declared = {_distribution(item) for item in PROJECT["project"]["dependencies"]}
    distributions = importlib.metadata.packages_distributions()
    for path in sorted((ROOT / package).rglob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            names = []
            if isinstance(statement, ast.Import):
                names = [alias.name for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom) and statement.level == 0:
                names = [statement.module or ""]
            for name in {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"raidsim"}:
                from_where = {_distribution(each) for each in distributions[name]}
                assert from_where & declared, f"{path.relative_to(ROOT)} imports {name}, which no dependency brings"


def copied_sources(target: Path) -> Path:
    """The checkout as a clean clone would have it."""
    for path in project_files():
        copy = target / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return target


@pytest.mark.slow
def test_a_wheel_holds_all_code_and_data_and_runs(tmp_path: Path) -> None:
    """Protects installing without the checkout: a built wheel has every module and data file, no tests, and works."""
    source = copied_sources(tmp_path / "source")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(tmp_path), str(source)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("raidsim-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix("raidsim/") for name in archive.namelist() if name.startswith("raidsim/")}
        archive.extractall(tmp_path / "installed")
        metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    assert {"web", "plot", "notebook", "sweep", "all"} <= set(re.findall(r"^Provides-Extra: (\S+)$", metadata, re.M))
    assert wheel.name.endswith("-py3-none-any.whl")
    expected = {path.as_posix() for path in package_files((".py", ".yaml", ".json"))} | {"__init__.py", "py.typed"}
    assert expected - names == set()
    assert not any(name.split("/")[0] in NOT_PACKAGED for name in names)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r})\n"
        "import raidsim.cli.main; print(raidsim.__file__)\n"
        "small = raidsim.Scenario.load('home-nas').with_(warm_up='10ms', duration='100ms')\n"
        "print(raidsim.run(small), raidsim.run.__module__)\n"
        "raidsim.cli.main.main(['--version'])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert str(tmp_path / "installed") in done.stdout
    assert raidsim.__version__ in done.stdout
    assert "IOPS" in done.stdout
    assert "raidsim.api.run" in done.stdout


@pytest.mark.slow
def test_a_planted_type_error_is_reported(tmp_path: Path) -> None:
    """Protects the type check from passing because it checks nothing: our settings see into the package."""
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "raidsim").symlink_to(ROOT)
    planted = tmp_path / "planted.py"
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(planted)]
    command += ["--cache-dir", str(tmp_path / "cache")]
    environment = os.environ | {"MYPYPATH": str(tmp_path / "types")}

    def check(code: str) -> subprocess.CompletedProcess[str]:
        planted.write_text(code)
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)

    good = check("from raidsim.model.links.link import Link\nrate: float = Link('pci', 133.3e6).rate\n")
    assert good.returncode == 0, good.stdout
    bad = check("from raidsim.model.links.link import Link\nrate: str = Link('pci', '133MB/s').rate\ndef f(x): ...\n")
    assert bad.returncode == 1
    for words in ('expected "float"', 'expression has type "float"', "missing a type annotation"):
        assert words in bad.stdout
