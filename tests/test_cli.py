"""The command line: what it prints where, and its exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import lqr.app
from lqr import __version__
from lqr.cli import main
from lqr.cli.ask import read_history
from lqr.cli.common import progress_bars, progress_lines
from lqr.errors import LqrError, ReadError, WeightsError
from lqr.types import Answer, Claim, Confidence, Hit, Passage, Source, Trace, Turn

if TYPE_CHECKING:
    from lqr.retrieval.dense import SentenceEmbedder

ROOT = Path(__file__).parent.parent
PASSAGE = Passage("abc-1", "abc", "Footrot", ("Treatment",), "Pare the horn. Use zinc sulphate.", 1, 0, 33)
ANSWER = Answer(
    "Use zinc sulphate. [1]",
    (Claim("Use zinc sulphate.", ("abc-1",), "quoted", ("Use zinc sulphate.",)),),
    (
        Source(
            1, "abc-1", "abc", "Footrot", ("Treatment",), PASSAGE.text, ("Use zinc sulphate.",), 3, None, ("A book, CABI, 2007",)
        ),
    ),
    False,
    Confidence("rich", "two passages say so"),
    Trace("How is footrot treated?", kept=(Hit(PASSAGE, 0.9),)),
)


@dataclass
class Asked:
    """What reached the pipeline."""

    question: str = ""
    history: tuple[Turn, ...] = ()
    route: str = ""
    collection: str = ""
    closed: bool = False


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Asked]:
    """``answering(answer or error)``: an application that says that, and what it was asked."""

    def install(outcome: Answer | BaseException = ANSWER) -> Asked:
        asked = Asked()

        def ask(question: str, history: tuple[Turn, ...], *, route: str) -> Answer:
            asked.question, asked.history, asked.route = question, history, route
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        def build(settings: Any, **_: Any) -> Any:
            asked.collection = settings.collection
            return SimpleNamespace(
                pipeline=SimpleNamespace(ask=ask), startup=("profile cpu: why",), close=lambda: setattr(asked, "closed", True)
            )

        monkeypatch.setattr(lqr.app, "build", build)
        return asked

    return install


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, **options)


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom lqr.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'torch','transformers','numpy','faiss','gradio','tqdm','huggingface_hub'} & set(sys.modules)))"
    )
    done = python("-c", script)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "ingest" in done.stdout


def test_python_m_lqr_is_the_same() -> None:
    done = python("-m", "lqr", "--version")
    assert (done.returncode, done.stdout) == (0, f"lqr {__version__}\n")


@pytest.mark.parametrize(
    "arguments", [[], ["ask"], ["ingest"], ["nonsense"], ["ask", "q", "--route", "sideways"], ["ask", "q", "--js"]]
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: lqr" in capsys.readouterr().err


def test_ask_prints_the_answer_and_numbered_sources(answering: Callable[..., Asked], capsys: pytest.CaptureFixture[str]) -> None:
    asked = answering()
    assert main(["ask", "How is footrot treated?", "--collection", "farm", "--route", "complex"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Use zinc sulphate. [1]\n\nSources\n[1] Footrot > Treatment, page 3\n")
    assert '    "Use zinc sulphate."\n    A book, CABI, 2007\n' in out
    assert err == ""
    assert asked == Asked("How is footrot treated?", (), "complex", "farm", closed=True)


def test_thin_evidence_is_said(answering: Callable[..., Asked], capsys: pytest.CaptureFixture[str]) -> None:
    answering(replace(ANSWER, confidence=Confidence("thin", "one passage only")))
    assert main(["ask", "q"]) == 0
    assert "\n\nThin evidence: one passage only.\n" in capsys.readouterr().out


def test_json_is_the_whole_answer_and_nothing_else(answering: Callable[..., Asked], capsys: pytest.CaptureFixture[str]) -> None:
    answer = replace(ANSWER, text="腐蹄病 🐑 [1]")
    answering(answer)
    assert main(["ask", "q", "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out) == json.loads(json.dumps(answer.to_dict()))
    assert "腐蹄病" in out


def test_json_stays_json_on_a_terminal_without_unicode(answering: Callable[..., Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    answering(replace(ANSWER, text="腐蹄病 🐑 [1]"))
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
    assert main(["ask", "q", "--json"]) == 0
    assert json.loads(raw.getvalue().decode("ascii"))["text"] == "腐蹄病 🐑 [1]"


def test_what_the_terminal_cannot_show_does_not_fail(answering: Callable[..., Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    answering(replace(ANSWER, text="腐蹄病 \udc80", sources=()))
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["ask", "q"]) == 0
    assert raw.getvalue() == b"\\u8150\\u8e44\\u75c5 \\udc80\n"


def test_history_reaches_the_pipeline(answering: Callable[..., Asked], tmp_path: Path) -> None:
    asked = answering()
    file = tmp_path / "h.json"
    file.write_text(
        '[{"role": "user", "content": "worms?"}, {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}]'
    )
    assert main(["ask", "and for lambs?", "--history", str(file)]) == 0
    assert asked.history == (Turn("user", "worms?"), Turn("assistant", "Yes."))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not JSON in UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b'{"role": "user"}', "must hold a list"),
        (b'["worms?"]', "item 1"),
        (b'[{"role": "user", "content": "a"}, {"content": "b"}]', "item 2"),
        (b'[{"role": 3, "content": "a"}]', "item 1"),
    ],
)
def test_a_bad_history_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "h.json"
    file.write_bytes(content)
    with pytest.raises(ReadError, match=said) as error:
        read_history(file)
    assert str(error.value).startswith(str(file))


def test_a_missing_history_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "q", "--history", str(tmp_path / "none.json")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"lqr: {tmp_path / 'none.json'}: can't be read")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (LqrError("no such thing;\n  do this"), 1, "lqr: no such thing; do this\n"),
        (WeightsError("minilm: tried a, b"), 1, "lqr: minilm: tried a, b\n"),
        (KeyboardInterrupt(), 130, "lqr: interrupted\n"),
        (OSError(28, "No space left on device", "/full/x"), 1, "lqr: /full/x: No space left on device;"),
        (ModuleNotFoundError("no", name="xllamacpp.server"), 1, "lqr: the package xllamacpp.server is not installed;"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(
    answering: Callable[..., Asked], capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    asked = answering(error)
    assert main(["ask", "q"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert asked.closed


def test_a_fault_of_ours_is_not_hidden(answering: Callable[..., Asked]) -> None:
    answering(ModuleNotFoundError("no", name="lqr.nothing"))
    with pytest.raises(ModuleNotFoundError):
        main(["ask", "q"])


def test_an_unknown_setting_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LQR_TOPK", "3")
    assert main(["ask", "q"]) == 1
    assert capsys.readouterr().err.startswith("lqr: unknown setting LQR_TOPK; known are ")


@pytest.mark.parametrize("command", [["ask", "q"], ["ingest", "README.md"]])
def test_a_collection_name_cannot_leave_its_folder(
    command: list[str], capsys: pytest.CaptureFixture[str], isolated: Path
) -> None:
    assert main([*command, "--collection", "../elsewhere"]) == 1
    assert "use letters, digits" in capsys.readouterr().err
    assert not (isolated / "elsewhere").exists()


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = """if True:
        import sys
        from types import SimpleNamespace
        import lqr.cli
        answer = SimpleNamespace(text="x" * 1_000_000, sources=(), confidence=SimpleNamespace(level="rich"))
        application = SimpleNamespace(startup=(), close=lambda: None, pipeline=SimpleNamespace(ask=lambda *a, **k: answer))
        sys.modules["lqr.app"] = SimpleNamespace(build=lambda *a, **k: application)
        sys.exit(lqr.cli.main(["ask", "q"]))
    """
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10) == b"x" * 10
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, b"")


def test_quick_work_says_nothing_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    show = progress_bars(stream)
    show("reading", 1, 2)
    show("reading", 2, 2)
    assert stream.getvalue() == ""


def test_long_work_says_how_far_it_is_where_there_is_no_terminal() -> None:
    stream, now = io.StringIO(), [100.0]
    show = progress_lines(stream, clock=lambda: now[0])
    show("reading", 3, 3)
    for done in range(0, 2560, 256):  # 6 s each
        show("embedding", done, 2500)
        now[0] += 6.0
    show("embedding", 2500, 2500)
    assert stream.getvalue().splitlines() == [
        "embedding: 512 of 2500, 47 s left",
        "embedding: 1024 of 2500, 35 s left",
        "embedding: 1536 of 2500, 23 s left",
        "embedding: 2048 of 2500, 11 s left",
        "embedding: 2500 of 2500",
    ]
    now[0] += 600.0
    show("embedding", 0, 100)  # another collection: the clock begins anew
    now[0] += 20.0
    show("embedding", 10, 100)
    assert stream.getvalue().splitlines()[-1] == "embedding: 10 of 100, 3 min left"
    show("reading", 0, 5)  # the first reading took no time, and is over
    assert "reading" not in stream.getvalue()


def test_a_library_that_raises_its_own_log_level_is_not_heard() -> None:
    script = (
        "import logging, sys; from lqr.cli import _set_up; _set_up(int(sys.argv[1]));"
        "chatty = logging.getLogger('bm25s'); chatty.setLevel(logging.DEBUG); chatty.debug('Building index from IDs objects');"
        "logging.getLogger('lqr.x').warning('kept'); logging.getLogger('httpcore').debug('X-Echo: hf_abcdefghijklmnop')"
    )
    said = [
        subprocess.run([sys.executable, "-c", script, str(verbose)], cwd=ROOT, capture_output=True, text=True, check=True).stderr
        for verbose in (0, 2)
    ]
    assert said[0] == "lqr.x: kept\n"
    assert "Building index" in said[1]
    assert "X-Echo: [removed]" in said[1]


def test_the_bar_reaches_its_end_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    show = progress_bars(stream)
    show("reading", 1, 3)
    show("reading", 3, 3)
    show("embedding", 0, 5)
    assert "reading: 100%" in stream.getvalue()
    assert "3/3" in stream.getvalue()
    assert "embedding:   0%" in stream.getvalue()


@pytest.mark.model
def test_ingest_reports_each_file_and_ask_answers_from_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, embedder: SentenceEmbedder
) -> None:
    for module in ("lqr.app", "lqr.retrieval.dense"):  # the real one, but loaded once for all tests
        monkeypatch.setattr(f"{module}.load_embedder", lambda settings: embedder)
    folder = tmp_path / "farm"
    folder.mkdir()
    (folder / "footrot.md").write_text("# Footrot\n\nFootrot is treated with a ten per cent zinc sulphate footbath.\n")
    (folder / "copy.md").write_text("# Footrot\n\nFootrot is treated with a ten per cent zinc sulphate footbath.\n")
    (folder / "hay.txt").write_text("Hay is baled at less than eighteen per cent moisture.\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing follows")
    (folder / "picture.png").write_bytes(b"\x89PNG")

    assert main(["ingest", str(folder), "--collection", "farm"]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("2 added, 0 unchanged, 0 replaced, 0 removed, 1 duplicates, 1 failed; ")
    assert "added: copy.md" in lines
    assert "added: hay.txt" in lines
    assert "duplicate: footrot.md is the same as copy.md" in lines
    assert "skipped: 1 files (unsupported type)" in lines
    failed = next(line for line in lines if line.startswith("failed: "))
    assert failed.count("broken.pdf") == 1
    assert lines[-1].endswith(" of 2 documents indexed")
    assert err == ""

    (folder / "broken.pdf").unlink()
    (folder / "hay.txt").write_text("Hay is baled at less than fifteen per cent moisture.\n")
    assert main(["ingest", str(folder), "--collection", "farm"]) == 0
    assert "0 added, 1 unchanged, 1 replaced" in capsys.readouterr().out

    assert main(["ask", "How is footrot treated?", "--collection", "farm", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "zinc sulphate" in answer["text"]
    assert not answer["refused"]
    assert answer["sources"][0]["title"] == "Footrot"

    assert main(["ask", "q", "--collection", "nosuch"]) == 1
    assert "is empty" in capsys.readouterr().err


def test_ingest_of_a_missing_path_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", str(tmp_path / "none"), "--collection", "farm"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "lqr: none: no such file or folder; check the path\n"
