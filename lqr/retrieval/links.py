"""Where a link in a document leads: to another document of the store, or to a section of one.

Web addresses and files that are not in the store lead nowhere. It knows sources and headings, not passages.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from lqr.types import Document


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A document, and the slug of a section in it (empty: the whole document)."""

    document_id: str
    slug: str = ""

    def in_section(self, section: Sequence[str]) -> bool:
        """Whether a passage under these headings belongs to the target; any does if no section is named."""
        return not self.slug or self.slug in map(slugify, section)


class LinkResolver:
    """Resolves link targets relative to a document's ``source``."""

    def __init__(self, documents: Iterable[Document]) -> None:
        """Remember the sources of ``documents``."""
        self._by_source: dict[str, str] = {}
        self._by_name: dict[str, set[str]] = {}
        for document in documents:
            source = posixpath.normpath(document.source.replace("\\", "/"))
            self._by_source.setdefault(source, document.id)
            for name in {posixpath.basename(source), posixpath.splitext(posixpath.basename(source))[0]}:
                self._by_name.setdefault(name.lower(), set()).add(document.id)

    def resolve(self, source: str, target: str) -> LinkTarget | None:
        """What ``target``, as written in the document ``source``, points at; ``None`` if it is not in the store.

        Tried: the path relative to the document, the path from the root, then the bare file name if only one document has
        it (articles that moved to another folder keep their links).
        """
        address, _, fragment = target.strip().partition("#")
        if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", address):
            return None
        here = posixpath.normpath(source.replace("\\", "/"))
        path = unquote(address.partition("?")[0]).replace("\\", "/")
        slug = slugify(unquote(fragment))
        if not path:
            found = self._by_source.get(here) if slug else None
            return LinkTarget(found, slug) if found else None
        for candidate in (posixpath.join(posixpath.dirname(here), path), path.lstrip("/")):
            if (found := self._by_source.get(posixpath.normpath(candidate))) is not None:
                return LinkTarget(found, slug)
        named = self._by_name.get(posixpath.basename(path).lower(), set())
        return LinkTarget(next(iter(named)), slug) if len(named) == 1 else None


def slugify(heading: str) -> str:
    """The anchor that Markdown renderers give a heading: lower case, punctuation dropped, spaces to hyphens."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())
