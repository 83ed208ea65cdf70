"""Keep the results of the scenarios as they are now: ``python -m raidsim.tests.golden.record``.

For a change that is meant to change them; what it changed is then seen in the difference of results.json.
"""

from __future__ import annotations

from raidsim.compiled.loader import stay_pure

stay_pure()

from raidsim.tests.golden.runs import RESULTS, SCENARIOS, as_text, result  # noqa: E402


def record() -> None:
    """Run all, and write what they gave."""
    RESULTS.write_text(as_text({name: result(name) for name in SCENARIOS}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
