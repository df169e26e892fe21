"""A stand-in for the Hugging Face Hub on loopback: the part of its HTTP interface that ``huggingface_hub`` uses to make a
repository, upload (ordinary and large files), commit, list and fetch. Repositories live in memory; ``refuse_uploads_after``
cuts the connection in the middle of the n-th large file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

LARGE = 1000  # bytes from which a file is a large one here; the Hub decides by kind and at some MB
TOKEN = "hf_" + "T" * 34


@dataclass
class Repo:
    """Commits, oldest first: (id, message, path to (content, is it large))."""

    private: bool
    commits: list[tuple[str, str, dict[str, tuple[bytes, bool]]]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    creation: dict[str, Any] = field(default_factory=dict)

    def at(self, revision: str) -> tuple[str, dict[str, tuple[bytes, bool]]] | None:
        if revision == "main" and self.commits:
            return self.commits[-1][0], self.commits[-1][2]
        revision = self.tags.get(revision, revision)
        return next(((commit, files) for commit, _, files in self.commits if commit == revision), None)


class HubServer(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repos: dict[str, Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.uploads: list[str] = []  # sha256 of large files that came in whole
        self.requests: list[str] = []
        self.refuse_uploads_after: int | None = None
        self.admitted = 0
        self.endpoint = f"http://127.0.0.1:{self.server_port}"
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def files(self, repo: str, kind: str = "model", revision: str = "main") -> dict[str, bytes]:
        found = self.repos[f"{kind}s/{repo}"].at(revision)
        assert found is not None
        return {name: content for name, (content, _) in found[1].items()}

    def put(self, repo: str, kind: str, files: dict[str, bytes], message: str = "by hand") -> str:
        """Commit as somebody else would."""
        repository = self.repos.setdefault(f"{kind}s/{repo}", Repo(False))
        return self._commit(repository, {name: (c, len(c) >= LARGE) for name, c in files.items()}, message)

    def _commit(self, repository: Repo, files: dict[str, tuple[bytes, bool]], message: str) -> str:
        seed = f"{len(repository.commits)}{message}{sorted(files)}".encode() + b"".join(c for c, _ in files.values())
        commit = hashlib.sha1(seed, usedforsecurity=False).hexdigest()
        repository.commits.append((commit, message, files))
        return commit


class _Handler(BaseHTTPRequestHandler):
    server: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_HEAD = do_GET

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.requests.append(f"{self.command} {path}")
        for command, pattern, method in _ROUTES:
            if command in (self.command, "GET" if self.command == "HEAD" else "") and (match := re.fullmatch(pattern, path)):
                method(self, **match.groupdict())
                return
        self._error(404, "EntryNotFound", "no such page")

    # -- making and committing -------------------------------------------------------------------------------------

    def create(self) -> None:
        asked = json.loads(self._body())
        name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else f"me/{asked['name']}"
        kind = asked.get("type") or "model"
        prefix = "" if kind == "model" else f"{kind}s/"
        if not self._allowed():
            return
        with self.server.lock:
            if f"{kind}s/{name}" in self.server.repos:
                self._json({"error": "You already created this repo", "url": f"{self.server.endpoint}/{prefix}{name}"}, 409)
                return
            self.server.repos[f"{kind}s/{name}"] = Repo(asked.get("visibility") == "private", creation=asked)
        self._json({"url": f"{self.server.endpoint}/{prefix}{name}", "name": name, "id": "1"})

    def validate(self) -> None:
        self._body()
        self._json({"errors": [], "warnings": []})

    def preupload(self, key: str, revision: str) -> None:
        asked = json.loads(self._body())
        if self._allowed() and self._repo(key):
            modes = [
                {"path": f["path"], "uploadMode": "lfs" if f["size"] >= LARGE else "regular", "shouldIgnore": False, "oid": None}
                for f in asked["files"]
            ]
            self._json({"files": modes})

    def batch(self, key: str) -> None:
        asked = json.loads(self._body())
        objects: list[dict[str, Any]] = []
        for wanted in asked["objects"]:
            answer: dict[str, Any] = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in self.server.objects:
                answer["actions"] = {
                    "upload": {"href": f"{self.server.endpoint}/lfs/{wanted['oid']}"},
                    "verify": {"href": f"{self.server.endpoint}/verify"},
                }
            objects.append(answer)
        self._json({"transfer": "basic", "objects": objects})

    def upload(self, oid: str) -> None:
        with self.server.lock:
            limit = self.server.refuse_uploads_after
            self.server.admitted += 1
            cut = limit is not None and self.server.admitted > limit
        if cut:
            self.rfile.read(min(512, int(self.headers.get("content-length", 512))))
            self.connection.close()  # in the middle of the file, without a word
            self.close_connection = True
            return
        content = self._body()
        if hashlib.sha256(content).hexdigest() != oid:
            self._error(400, "BadRequest", "sha256 differs")
            return
        with self.server.lock:
            self.server.objects[oid] = content
            self.server.uploads.append(oid)
        self._json({})

    def verify(self) -> None:
        asked = json.loads(self._body())
        self._json({}, 200 if asked["oid"] in self.server.objects else 404)

    def commit(self, key: str, revision: str) -> None:
        lines = [json.loads(line) for line in self._body().splitlines()]
        repository = self._repo(key)
        if not (self._allowed() and repository):
            return
        header = lines[0]["value"]
        current = repository.at("main")
        if header.get("parentCommit") and (current is None or current[0] != header["parentCommit"]):
            self._error(412, "PreconditionFailed", "the parent commit is not the newest")
            return
        files = dict(current[1]) if current else {}
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = (base64.b64decode(value["content"]), False)
            elif line["key"] == "lfsFile":
                files[value["path"]] = (self.server.objects[value["oid"]], True)
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        commit = self.server._commit(repository, files, header["summary"])
        self._json({"commitUrl": f"{self.server.endpoint}/{key}/commit/{commit}", "commitOid": commit, "success": True})

    def tag(self, key: str, revision: str) -> None:
        repository = self._repo(key)
        if repository:
            repository.tags[json.loads(self._body())["tag"]] = revision
            self._json({})

    # -- reading ---------------------------------------------------------------------------------------------------

    def info(self, key: str, revision: str = "main") -> None:
        repository = self._repo(key)
        if repository is None:
            return
        found = repository.at(revision)
        if found is None and repository.commits:
            self._error(404, "RevisionNotFound", "no such revision")
            return
        commit, files = found or (None, {})
        name = key.partition("/")[2]
        siblings = [{"rfilename": path} for path in files]
        self._json(
            {
                "_id": "1",
                "id": name,
                "modelId": name,
                "sha": commit,
                "private": repository.private,
                "siblings": siblings,
                "tags": [],
            }
        )

    def tree(self, key: str, revision: str) -> None:
        repository = self._repo(key)
        if repository is None:
            return
        found = repository.at(revision)
        if found is None:
            self._error(404, "RevisionNotFound", "no such revision")
            return
        entries = []
        for path, (content, large) in sorted(found[1].items()):
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
            entry: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": blob}
            if large:
                entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
            entries.append(entry)
        self._json(entries)

    def resolve(self, kind: str | None, repo: str, revision: str, path: str) -> None:
        repository = self._repo(f"{kind or 'models'}/{repo}")
        if repository is None:
            return
        found = repository.at(revision)
        if found is None or path not in found[1]:
            self._error(404, "EntryNotFound" if found else "RevisionNotFound", "not there")
            return
        commit, files = found
        content, large = files[path]
        etag = hashlib.sha256(content).hexdigest() if large else hashlib.sha1(content, usedforsecurity=False).hexdigest()
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if large:
            headers |= {"X-Linked-Etag": f'"{etag}"', "X-Linked-Size": str(len(content))}
        start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range") or "")
        if start:
            headers["Content-Range"] = f"bytes {start[1]}-{len(content) - 1}/{len(content)}"
        self._send(content[int(start[1]) :] if start else content, 206 if start else 200, "application/octet-stream", headers)

    # -- answering -------------------------------------------------------------------------------------------------

    def _repo(self, key: str) -> Repo | None:
        repository = self.server.repos.get(key)
        if repository is None or (repository.private and self.headers.get("authorization") != f"Bearer {TOKEN}"):
            self._error(404, "RepoNotFound", "Repository not found")
            return None
        return repository

    def _allowed(self) -> bool:
        if self.headers.get("authorization") == f"Bearer {TOKEN}":
            return True
        # Some servers repeat in their refusal what they were sent.
        self._json({"error": f"Invalid token {self.headers.get('authorization')}"}, 401)
        return False

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        content = b""
        while size := int(self.rfile.readline().strip(), 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), status, "application/json", {})

    def _error(self, status: int, code: str, message: str) -> None:
        self._send(
            json.dumps({"error": message}).encode(),
            status,
            "application/json",
            {"X-Error-Code": code, "X-Error-Message": message},
        )

    def _send(self, content: bytes, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


_KEY = r"(?P<key>(?:models|datasets|spaces)/[^/]+/[^/]+)"
_ROUTES: tuple[tuple[str, str, Any], ...] = (
    ("POST", r"/api/repos/create", _Handler.create),
    ("POST", r"/api/validate-yaml", _Handler.validate),
    ("POST", rf"/api/{_KEY}/preupload/(?P<revision>[^/]+)", _Handler.preupload),
    ("POST", rf"/api/{_KEY}/commit/(?P<revision>[^/]+)", _Handler.commit),
    ("POST", rf"/api/{_KEY}/tag/(?P<revision>[^/]+)", _Handler.tag),
    ("POST", r"/(?P<key>.+)\.git/info/lfs/objects/batch", _Handler.batch),
    ("PUT", r"/lfs/(?P<oid>[0-9a-f]{64})", _Handler.upload),
    ("POST", r"/verify", _Handler.verify),
    ("GET", rf"/api/{_KEY}", _Handler.info),
    ("GET", rf"/api/{_KEY}/revision/(?P<revision>[^/]+)", _Handler.info),
    ("GET", rf"/api/{_KEY}/tree/(?P<revision>[^/]+)", _Handler.tree),
    ("GET", r"/(?:(?P<kind>datasets|spaces)/)?(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)", _Handler.resolve),
)
