"""The chat at http://127.0.0.1:7860: ``python app.py``, and the file that a Space starts.

Everything is set by ``LQR_*`` variables (``lqr/settings.py``). Whatever prevents a start is said in one line, exit code 1.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import sys
from contextlib import ExitStack

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read once, when gradio is imported

from lqr.cli.common import progress_bars
from lqr.errors import LqrError
from lqr.service.logs import JsonFormatter
from lqr.service.redaction import guard_logs
from lqr.settings import Settings

log = logging.getLogger("lqr")


def main() -> int:
    """Load, index if need be, and serve until interrupted; returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(name)s: %(message)s", datefmt="%H:%M:%S")
    handler = logging.getLogger().handlers[0]
    handler.setLevel(logging.INFO)  # some libraries set their own loggers to DEBUG when imported
    guard_logs()
    for chatty in ("httpx", "httpcore", "sentence_transformers", "faiss.loader"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    try:
        settings = Settings.load()
        if settings.log == "json":
            handler.setFormatter(JsonFormatter())
        serve(settings)
    except LqrError as error:
        return _give_up(str(error))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            return _give_up(
                f"can't write {error.filename or ''}: {error.strerror}; free space there, or set LQR_HOME to another folder"
            )
        raise
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "lqr":
            raise
        return _give_up(f"the package {error.name} is not installed; run pip install -r requirements.txt")
    except KeyboardInterrupt:
        return 130
    return 0


def serve(settings: Settings) -> None:
    """Build the application and run the page.

    Raises:
        LqrError: a part is missing or the port is taken; the message says what to do.
    """
    host, port = address(settings)
    _check_port(host, port)  # before minutes of indexing, not after
    from lqr.app import build
    from lqr.service import lifecycle
    from lqr.service.watch import watched
    from lqr.ui import chat, theme
    from lqr.ui.endpoints import QUEUE

    application = build(settings, progress=progress_bars())
    with ExitStack() as opened:
        opened.callback(application.close)
        for line in application.startup:
            log.info(line)
        served, watch = watched(application)
        page = chat.build(served, opened)
        options = {**theme.launch_options(), **lifecycle.launch_options(watch, page, QUEUE)}
        _, url, _ = page.launch(server_name=host, server_port=port, quiet=True, prevent_thread_lock=True, **options)
        log.info("open %s", url)
        lifecycle.serve(page, watch)


def address(settings: Settings) -> tuple[str, int]:
    """Where to listen: ``LQR_HOST`` and ``LQR_PORT``, else what the host of a Space says, else this machine only."""
    environment = os.environ
    on_space = "0.0.0.0" if "SPACE_ID" in environment else settings.host
    host = settings.host if "LQR_HOST" in environment else environment.get("GRADIO_SERVER_NAME", on_space)
    given = environment.get("GRADIO_SERVER_PORT") or environment.get("PORT")
    port = int(given) if given and given.isdigit() and "LQR_PORT" not in environment else settings.port
    return host, port


def _check_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise LqrError(
                f"can't listen on {host}:{port} ({error}); stop what runs there, or set LQR_PORT or LQR_HOST"
            ) from None


def _give_up(message: str) -> int:
    print(f"lqr: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
