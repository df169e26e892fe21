"""The file that a Space starts: the settings of its hardware (``space.json`` beside it), then the chat.

Variables of the Space win over ``space.json``. Deployed as ``space.py``; the folder it lies in here does not go up.
"""

from __future__ import annotations

import os

if os.environ.get("SPACES_ZERO_GPU"):
    import spaces  # noqa: F401  it has to come before whatever touches CUDA, and only ZeroGPU needs it

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Fill in what is not set, and serve. The models are loaded before the page is launched, as ZeroGPU wants it."""
    space = json.loads((HERE / "space.json").read_text(encoding="utf-8"))
    for name, value in space["settings"].items():
        os.environ.setdefault(name, value)
    import app

    return app.main()


if __name__ == "__main__":
    sys.exit(main())
