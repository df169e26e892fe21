"""One ``Settings`` object for the whole program, read from ``LQR_*`` environment variables or keyword arguments.

It decides nothing about stages; it only holds validated values and, for ``auto`` ones, the choice made and its
reason (``Settings.reasons``), which the start-up log prints once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from lqr.errors import SettingsError

Profile = Literal["auto", "cpu", "gpu", "server"]
RouteSetting = Literal["auto", "simple", "complex"]
Precision = Literal["auto", "nf4", "bf16", "float32"]
LogFormat = Literal["text", "json"]
TraceSetting = Literal["off", "redacted", "full"]
MetricsSetting = Literal["off", "local", "open"]

ROOT = Path(__file__).resolve().parent.parent


def _default_home() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "lqr"


@dataclass(frozen=True, slots=True)
class Settings:
    """Every knob of the program. Names become environment variables: ``top_k`` is ``LQR_TOP_K``."""

    profile: Profile = "auto"
    home: Path = field(default_factory=_default_home)  # stores and indexes live here
    collection: str = "agriculture"  # the collection asked when none is named
    knowledge: Path = ROOT / "knowledge"  # knowledge/<collection> is indexed on the first start
    models: Path = ROOT / "models"  # fine-tuned classifiers that ship with the project

    # composer | fake | smollm2 | PATH.gguf | Hub id | http(s)://host/v1#model; nobody: whom the profile names, else composer
    llm: str = ""
    llm_slots: int = 2  # parallel answers of the in-process model
    llm_context: int = 2048  # tokens, prompt and answer together
    llm_prompt_tokens: int = 400  # a CPU reads about 150 tokens a second before the first word; raise it on a GPU
    llm_max_tokens: int = 220
    llm_timeout: float = 60.0  # seconds, for a server
    llm_precision: Precision = "auto"  # of a transformers model; auto = nf4 on CUDA, float32 on a CPU

    embedder: str = "embedder"
    embedder_revision: str = "main"
    threads: int = 0  # of torch and of llama.cpp; 0 = as many as each takes by itself

    top_k: int = 5  # passages the writer sees
    candidates: int = 20  # hits each retriever returns before fusion
    rrf_k: int = 60  # the constant of reciprocal rank fusion (Cormack et al. 2009)
    graph: str = "embedded"  # embedded | bolt://host:7687/database: a server that holds a copy of the passage graph
    expand: int = 3  # first-step passages d_i that make second-step queries
    route: RouteSetting = "auto"
    relevance_threshold: float = 0.03  # of a probability; at 0.1 two of 164 held-out common questions lose their passage
    # Of 148 answerable dev turns 6 lie below it, of 154 questions that the library does not hold 24 above; at 0.5 it is 9 and 17.
    refusal_threshold: float = 0.34

    max_question_chars: int = 2000
    history_turns: int = 8
    host: str = "127.0.0.1"
    port: int = 7860
    queue_size: int = 64
    answer_seconds: float = 120.0  # an answer that takes longer is ended, so that it keeps no slot from others
    shutdown_seconds: float = 20.0  # how long answers under way may go on after a signal to stop
    rate_per_minute: int = 60  # questions of one client address; 0 = no limit
    rate_burst: int = 10  # of these, how many at once
    trusted_proxies: int = 0  # reverse proxies in front that append to X-Forwarded-For; 0 = the header is not believed
    log: LogFormat = "text"
    metrics: MetricsSetting = "local"  # who may read /metrics: nobody, this machine, everybody
    traces: TraceSetting = "off"  # whole questions and answers in LQR_HOME/traces, for debugging
    traces_days: int = 14  # how long they are kept
    feedback: str = "off"  # off: no thumbs are shown | local | OWNER/NAME, a data set on the Hub
    upload_files: int = 20  # own documents of one visitor; 0 = nobody may add any
    upload_megabytes: int = 40  # of one visitor, together
    upload_passages: int = 3000  # of one visitor, together; two cores embed about 2,500 a minute
    upload_minutes: int = 60  # own documents that were not used for so long are dropped
    upload_sessions: int = 50  # visitors who have documents of their own at the same time
    libraries: str = ""  # names of further collections that every visitor may choose, separated by commas

    reasons: tuple[str, ...] = ()  # filled by resolve(); not a setting

    @classmethod
    def load(cls, **overrides: Any) -> Settings:
        """Read the environment, apply ``overrides``, validate, and resolve ``auto``.

        Raises:
            SettingsError: an ``LQR_*`` variable or keyword is unknown, or a value is out of range.
        """
        known = {f.name: f for f in fields(cls) if f.name != "reasons"}
        values: dict[str, Any] = {}
        for name, raw in os.environ.items():
            if not name.startswith("LQR_"):
                continue
            if name in _SECRETS:
                continue
            key = name[4:].lower()
            if key not in known:
                raise SettingsError(f"unknown setting {name}; known are {', '.join('LQR_' + k.upper() for k in sorted(known))}")
            values[key] = raw
        for key, value in overrides.items():
            if key not in known:
                raise SettingsError(f"unknown setting {key!r}")
            if value is not None:
                values[key] = value
        typed = {key: _convert(key, value, getattr(_DEFAULTS, key)) for key, value in values.items()}
        return replace(cls(), **typed).validate().resolve()

    def validate(self) -> Settings:
        """Check ranges and choices; returns self.

        Raises:
            SettingsError: naming the setting and what it may be.
        """
        if self.profile not in get_args(Profile):
            raise SettingsError(f"LQR_PROFILE is {self.profile!r}; it may be {', '.join(get_args(Profile))}")
        if self.route not in get_args(RouteSetting):
            raise SettingsError(f"LQR_ROUTE is {self.route!r}; it may be {', '.join(get_args(RouteSetting))}")
        if self.llm_precision not in get_args(Precision):
            raise SettingsError(f"LQR_LLM_PRECISION is {self.llm_precision!r}; it may be {', '.join(get_args(Precision))}")
        for name, choices in (("log", LogFormat), ("traces", TraceSetting), ("metrics", MetricsSetting)):
            if getattr(self, name) not in get_args(choices):
                raise SettingsError(f"LQR_{name.upper()} is {getattr(self, name)!r}; it may be {', '.join(get_args(choices))}")
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if not low <= value <= high:
                raise SettingsError(f"LQR_{name.upper()} is {value}; it must be between {low} and {high}")
        return self

    def resolve(self) -> Settings:
        """Turn ``auto`` into a profile, with the reason. torch is only imported if a GPU could be present.

        Raises:
            SettingsError: the profile is ``gpu`` and torch finds no CUDA device.
        """
        if self.profile == "gpu" and not _cuda_available():
            raise SettingsError("LQR_PROFILE is 'gpu', but no CUDA device was found; set cpu or auto, or install torch for CUDA")
        if self.profile != "auto":
            what = f"; {_SERVER}" if self.profile == "server" else ""
            return replace(self, reasons=(f"profile {self.profile}: set by LQR_PROFILE{what}",))
        if self.llm.startswith(("http://", "https://")):
            return replace(self, profile="server", reasons=(f"profile server: LQR_LLM is an address; {_SERVER}",))
        if _cuda_available():
            return replace(self, profile="gpu", reasons=("profile gpu: CUDA device found",))
        return replace(self, profile="cpu", reasons=("profile cpu: no CUDA device found",))


_SERVER = "the models here stay on the CPU, as the writer is elsewhere"

# Read where it is used and never stored: a Settings object is logged and written into result files.
_SECRETS = frozenset({"LQR_LLM_KEY", "LQR_AUTH", "LQR_GRAPH_USER", "LQR_GRAPH_KEY"})
# What no log, trace, error or push may show: these variables' values. A user's name is no secret.
SECRET_VARIABLES = (
    "LQR_LLM_KEY", "LQR_AUTH", "LQR_GRAPH_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY", "NEO4J_PASSWORD",
)  # fmt: skip


def known_secrets(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Values of ``SECRET_VARIABLES`` and the passwords in ``LQR_AUTH``; longest first. Short ones (under 6) would mask words."""
    environment = os.environ if environment is None else environment
    values = {environment.get(name, "").strip() for name in SECRET_VARIABLES}
    values |= {pair.strip().partition(":")[2] for pair in environment.get("LQR_AUTH", "").split(",")}
    return tuple(sorted((value for value in values if len(value) >= 6), key=lambda value: (-len(value), value)))


_RANGES: tuple[tuple[str, float, float], ...] = (
    ("llm_slots", 1, 64),
    ("llm_context", 256, 131072),
    ("llm_prompt_tokens", 100, 131072),
    ("llm_max_tokens", 16, 4096),
    ("llm_timeout", 1, 3600),
    ("threads", 0, 256),
    ("top_k", 1, 50),
    ("candidates", 1, 1000),
    ("rrf_k", 1, 1000),
    ("expand", 0, 20),
    ("relevance_threshold", 0, 1),
    ("refusal_threshold", 0, 1),
    ("max_question_chars", 10, 100000),
    ("history_turns", 0, 200),
    ("port", 0, 65535),
    ("queue_size", 1, 10000),
    ("answer_seconds", 1, 3600),
    ("shutdown_seconds", 0, 600),
    ("rate_per_minute", 0, 100000),
    ("rate_burst", 1, 10000),
    ("trusted_proxies", 0, 10),
    ("traces_days", 1, 3650),
    ("upload_files", 0, 1000),
    ("upload_megabytes", 1, 1024),
    ("upload_passages", 1, 100000),
    ("upload_minutes", 1, 1440),
    ("upload_sessions", 1, 10000),
)


def _convert(key: str, value: Any, default: Any) -> Any:
    try:
        if isinstance(default, str | Path) and not str(value).strip():
            raise ValueError("empty; leave it out for the default")  # as a path it would be the working directory
        if isinstance(default, Path):
            return Path(value).expanduser()
        return type(default)(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise SettingsError(f"LQR_{key.upper()} is {value!r}: {error}") from error


def _cuda_available() -> bool:
    # A driver leaves this file behind; without it the two-second import of torch would be for nothing.
    if not (Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidia0").exists() or Path("/dev/dxg").exists()):
        return False
    import torch

    return bool(torch.cuda.is_available())


_DEFAULTS = Settings()
