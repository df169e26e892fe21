"""``lqr train``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lqr.cli.common import Commands


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
