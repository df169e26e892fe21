"""Whatever is asked for by name stands with its licence in docs/licences.md, in the release that is pinned."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (?:\[([^\]]+)\]\([^)]*\)|([\w.-]+)) \| (\S+) \| (.+?) \|", re.MULTILINE)
REQUIREMENTS = [*ROOT.glob("requirements*.txt"), *ROOT.glob("spaces/*/requirements.txt")]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def listed() -> dict[str, tuple[str, str]]:
    """Version and licence by name."""
    text = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8").partition("\n## Weights")[0]
    return {normal(first or second): (version, licence) for first, second, version, licence in ROW.findall(text)}


def test_every_requirement_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(line for lines in project["optional-dependencies"].values() for line in lines)]
    wanted += [line for path in REQUIREMENTS for line in path.read_text(encoding="utf-8").splitlines()]
    names = {normal(match[0]) for line in wanted if (match := re.match(r"[A-Za-z][\w.-]*", line))}
    assert len(names) > 40
    assert names - listed().keys() == set()


def test_no_licence_is_unknown() -> None:
    assert [name for name, (_, licence) in listed().items() if not licence.strip() or "UNKNOWN" in licence] == []


def test_versions_are_those_that_are_pinned() -> None:
    pins: dict[str, set[str]] = {}
    for path in REQUIREMENTS:
        for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            pins.setdefault(normal(name), set()).add(version)
    table = listed()
    differing = {
        name: (table[name][0], versions) for name, versions in pins.items() if table[name][0].split("+")[0] not in versions
    }
    assert differing == {}
