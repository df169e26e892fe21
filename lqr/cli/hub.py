"""``lqr hub push`` and ``lqr hub pull``: classifiers as model repositories, collections as data sets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lqr.errors import HubError
from lqr.settings import Settings

if TYPE_CHECKING:
    from lqr.cli.common import Commands


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "hub",
        allow_abbrev=False,
        help="publish and fetch classifiers and collections",
        description="Publish classifiers and collections on the Hugging Face Hub, and fetch them.",
        epilog="The token is found as the Hub's own tools find it: hf auth login, or HF_TOKEN.",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    push = actions.add_parser(
        "push", parents=[shared], allow_abbrev=False, help="publish a model's folder, or with --collection a collection"
    )
    push.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="a model, such as models/relevance")
    push.add_argument("--to", required=True, metavar="OWNER/NAME", help="made if it is not there")
    push.add_argument("--public", action="store_true", help="a repository that is made now is private without this")
    push.add_argument("--tag", default="", metavar="VERSION", help="a tag for this version of a model")
    push.add_argument("--license", default="", metavar="NAME", help="of a collection's documents, for its card")
    push.add_argument("--dry-run", action="store_true", help="only show what would change")
    push.set_defaults(command=_push)
    pull = actions.add_parser(
        "pull", parents=[shared], allow_abbrev=False, help="fetch a model into a folder, or with --collection a collection"
    )
    pull.add_argument("repo", metavar="OWNER/NAME")
    pull.add_argument("--to", type=Path, metavar="FOLDER", help="where a model goes (default: its name in LQR_MODELS)")
    pull.add_argument("--revision", metavar="COMMIT", help="a commit, tag or branch (default: the newest)")
    pull.set_defaults(command=_pull)


def _push(arguments: argparse.Namespace) -> int:
    from lqr.app import collection_folder
    from lqr.cli.deploy import _differences
    from lqr.hub import client as hub
    from lqr.hub.collections import push_collection
    from lqr.hub.models import model_files, push_model

    if (arguments.folder is None) == (arguments.collection is None):
        raise HubError("give a model's folder, or --collection NAME, and not both")
    private = not arguments.public
    if arguments.folder is None:
        if arguments.dry_run:
            raise HubError("--dry-run is for models; a collection is one file and its index")
        folder = collection_folder(Settings.load(), arguments.collection)
        pushed = push_collection(folder, arguments.to, private=private, license_name=arguments.license)
    elif arguments.dry_run:
        remote = hub.remote_files(hub.api(), hub.check_repo(arguments.to), "model")[1]
        print("\n".join(_differences(hub.compare(model_files(arguments.folder), remote))))
        return 0
    else:
        pushed = push_model(arguments.folder, arguments.to, private=private, version=arguments.tag)
    print("\n".join(_differences(pushed.changes)))
    print(f"{pushed.url} is at commit {pushed.revision}")
    return 0


def _pull(arguments: argparse.Namespace) -> int:
    from lqr.app import collection_folder
    from lqr.hub.collections import pull_collection
    from lqr.hub.models import pull_model

    settings = Settings.load()
    if arguments.collection is not None:
        if arguments.to is not None:
            raise HubError("give --to FOLDER for a model, or --collection NAME, and not both")
        to = collection_folder(settings, arguments.collection)
        origin = pull_collection(arguments.repo, to, revision=arguments.revision)
    else:
        to = arguments.to or settings.models / arguments.repo.rpartition("/")[2]
        origin = pull_model(arguments.repo, to, revision=arguments.revision)
    print(f"{to}: {origin.repo} at commit {origin.revision}, checked and pinned")
    return 0
