"""Looks up what is installed in the lists of published vulnerabilities, with pip-audit in an environment of its own.

    python .ci/audit.py [--required]        (make audit)

Any that ``.ci/audit-allow.txt`` does not name is a failure. Where no list can be reached nothing is known: that is said, as
SKIPPED, and is a failure only with ``--required``. It audits the environment of the Python that runs it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOOL = "pip-audit==2.10.1"
SERVICES = ("pypi", "osv")  # the lists, in the order in which they are asked until one knows anything
ALLOWED = Path(__file__).with_name("audit-allow.txt")
_ENTRY = re.compile(r"(?P<id>[A-Z]+-[\w-]+)\s+(?P<reviewed>\d{4}-\d\d-\d\d)\s+(?P<why>\S.*)")


def allowed(text: str) -> dict[str, str]:
    """Reason by id of the vulnerabilities that were looked at and found not to matter here.

    Raises:
        ValueError: a line has no id, no date of review or no reason.
    """
    entries = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            match = _ENTRY.fullmatch(line.strip())
            if match is None:
                raise ValueError(f"{ALLOWED.name} line {number}: write ID YYYY-MM-DD REASON, not {line.strip()!r}")
            entries[match["id"]] = f"{match['why']} (reviewed {match['reviewed']})"
    return entries


def judge(dependencies: Sequence[dict[str, Any]]) -> tuple[int, list[str]]:
    """How many packages were audited, and a line for each vulnerability and each package that could not be audited."""
    audited = [item for item in dependencies if "skip_reason" not in item]
    lines = [
        f"FOUND {vulnerability['id']} in {item['name']} {item['version']}, "
        f"{'mended in ' + ', '.join(vulnerability['fix_versions']) if vulnerability['fix_versions'] else 'not mended yet'}"
        for item in audited
        for vulnerability in item["vulns"]
    ]
    lines += [f"not audited: {item['name']}: {item['skip_reason']}" for item in dependencies if "skip_reason" in item]
    return len(audited), lines


def main(argv: Sequence[str] | None = None) -> int:
    """Audit, print what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--required", action="store_true", help="fail where no list of vulnerabilities can be reached")
    options = parser.parse_args(argv)
    entries = allowed(ALLOWED.read_text(encoding="utf-8"))
    why = []
    with tempfile.TemporaryDirectory() as work:
        venv.create(work, with_pip=True)
        python = str(Path(work) / "bin" / "python")
        done = _run(python, "-m", "pip", "install", "--quiet", TOOL)
        if done.returncode:
            why.append(f"{TOOL} can't be installed: {_last_line(done.stderr)}")
        for service in SERVICES if not why else ():
            done = _run(
                *(python, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--timeout", "15"),
                *("--path", sysconfig.get_path("purelib"), "--vulnerability-service", service),
                *(part for entry in entries for part in ("--ignore-vuln", entry)),
            )
            try:
                audited, lines = judge(json.loads(done.stdout)["dependencies"])
            except ValueError:
                why.append(f"{service}: {_last_line(done.stderr)}")
                continue
            if audited:
                print(
                    "\n".join(
                        [f"audit ({service}): {audited} packages", *lines, *(f"allowed: {i}: {w}" for i, w in entries.items())]
                    )
                )
                return 1 if any(line.startswith("FOUND") for line in lines) else 0
            why.append(f"{service}: knows none of {len(lines)} packages ({lines[0] if lines else 'nothing is installed'})")
    print(f"audit: SKIPPED, no list of vulnerabilities could be reached; {'; '.join(why)}")
    return 1 if options.required else 0


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


if __name__ == "__main__":
    sys.exit(main())
