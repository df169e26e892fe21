"""``lqr deploy``: builds a Space, checks it, shows what would change, and brings it to the Hub."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lqr.errors import HubError

if TYPE_CHECKING:
    from lqr.cli.common import Commands
    from lqr.hub.client import Changes
    from lqr.hub.space import SpaceBuild

SHOWN = 40  # changed files that are named; of more, the number is given


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "deploy",
        parents=[shared],
        allow_abbrev=False,
        help="bring the chat to a Space of the Hugging Face Hub",
        description="Build the files of a Space, check them, and bring the Space to them in one commit.",
        epilog="The token is found as the Hub's own tools find it: hf auth login, or HF_TOKEN.",
    )
    parser.add_argument("--space", required=True, metavar="OWNER/NAME", help="made if it is not there")
    parser.add_argument("--hardware", required=True, choices=("zerogpu", "gpu", "cpu"), help="what the Space runs on")
    parser.add_argument("--dry-run", action="store_true", help="only show the files and what would change")
    parser.add_argument("--public", action="store_true", help="a Space that is made now is private without this")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write exactly what goes up into this new folder")
    parser.set_defaults(command=_deploy)


def _deploy(arguments: argparse.Namespace) -> int:
    from lqr.hub import client as hub
    from lqr.hub.space import build_space, fetched_models, pin_models, write_space

    hub.check_repo(arguments.space)
    api = hub.api()
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    pins: dict[str, str] = {}
    remote: dict[str, str] | None = None
    silent = "HF_HUB_OFFLINE is set, so the Hub was not asked" if offline else ""
    try:
        pins = {} if offline else pin_models(api, arguments.hardware)
        remote = None if offline else hub.remote_files(api, arguments.space, "space")[1]
    except HubError as error:
        if not arguments.dry_run:
            raise
        silent = f"the Hub gave no answer ({str(error).partition('. ')[0]})"  # the advice behind is for what goes up
    build = build_space(arguments.hardware, pins=pins)
    if arguments.out:
        write_space(build, arguments.out)
    print("\n".join(_report(build, arguments.space, pins)))
    if unpinned := [repo for repo in fetched_models(arguments.hardware) if repo not in pins]:
        print(f"not pinned, as the Hub did not say its commit: {', '.join(unpinned)}")
    if build.problems:
        raise HubError(f"not deployed: {'; '.join(build.problems)}")
    if arguments.dry_run:
        if remote is None:
            print(f"{silent}: all files count as new\n{_listing(build)}")
        else:
            print("\n".join(_differences(hub.compare(build.files, remote))))
        return 0
    return _push(api, build, arguments.space, arguments.public)


def _push(api: Any, build: SpaceBuild, space: str, public: bool) -> int:
    from lqr.hub import client as hub

    creation: dict[str, Any] = {"space_sdk": "gradio"}
    if build.hardware == "zerogpu":
        creation["space_hardware"] = (
            "zero-a10g"  # costs nothing; a GPU of its own costs by the hour and is for its owner to order
        )
    pushed = hub.push(api, space, "space", build.files, message=f"Deploy for {build.hardware}", private=not public, **creation)
    print("\n".join(_differences(pushed.changes)))
    print(f"{pushed.url} is at commit {pushed.revision[:12]}")
    if build.hardware == "gpu":
        print("choose its hardware in the Space's settings; it is paid by the hour")
    return 0


def _report(build: SpaceBuild, space: str, pins: dict[str, str]) -> list[str]:
    from lqr.retrieval.shipped import FILE_NAME as VECTORS

    lines = [f"{space} for {build.hardware}: {len(build.files)} files, {build.size / 1e6:.1f} MB"]
    lines += [f"pinned: {repo} at {commit[:12]}" for repo, commit in pins.items()]
    if f"knowledge/{build.collection}/{VECTORS}" not in build.files:
        remedy = f"`lqr ingest --save-vectors --collection {build.collection}` makes them"
        lines.append(f"knowledge/{build.collection} has no {VECTORS}: each start of the Space embeds its documents; {remedy}")
    lines += [f"problem: {problem}" for problem in build.problems]
    return lines


def _listing(build: SpaceBuild) -> str:
    sizes = {name: len(c) if isinstance(c, bytes) else c.stat().st_size for name, c in build.files.items()}
    return "\n".join(f"{size:>10}  {name}" for name, size in sorted(sizes.items()))


def _differences(changes: Changes) -> list[str]:
    lines = []
    for sign, names in (("+", changes.added), ("~", changes.changed), ("-", changes.deleted)):
        lines += [f"{sign} {name}" for name in names[:SHOWN]]
        if len(names) > SHOWN:
            lines.append(f"{sign} and {len(names) - SHOWN} more")
    counts = f"{len(changes.added)} new, {len(changes.changed)} changed, {len(changes.deleted)} deleted"
    return [*lines, f"{counts}, {len(changes.same)} as they are there"]
