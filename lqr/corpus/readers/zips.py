"""Guards zipped formats: the sizes are added up before anything is unpacked.

``zipfile`` never hands out more bytes than an entry declares, so the declared sizes bound what a bomb can grow to.
"""

from __future__ import annotations

import io
import zipfile

from lqr.corpus.readers.base import RawFile
from lqr.errors import ReadError

_ENTRIES = 10_000


def check_zip(file: RawFile) -> list[str]:
    """The names inside the archive.

    Raises:
        ReadError: damaged, encrypted, or larger than ``limits.uncompressed`` when unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise ReadError(f"{file.name}: damaged ({error}); open it in its own program and save it again") from error
    if any(entry.flag_bits & 1 for entry in entries):
        raise ReadError(f"{file.name}: encrypted; save it without a password first")
    size = sum(entry.file_size for entry in entries)
    if size > file.limits.uncompressed or len(entries) > _ENTRIES:
        raise ReadError(
            f"{file.name}: unpacks to {size / 2**20:,.0f} MB, more than {file.limits.uncompressed / 2**20:,.0f} MB; split it"
        )
    return [entry.filename for entry in entries]
