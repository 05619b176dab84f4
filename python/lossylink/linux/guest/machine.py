"""A guest: a Linux kernel in virtual time that runs one script and is gone."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lossylink.errors import RunError
from lossylink.linux.guest.interrupts import interrupted_later
from lossylink.linux.guest.stubs import simulator, stubs_library
from lossylink.linux.guest.watch import Watch
from lossylink.linux.kernel.cache import Kernel, cache_folder
from lossylink.linux.kernel.places import temporary_folder

#: The instant at which every guest begins: the same, so that equal runs are equal.
START_NS = 1_750_000_000 * 10**9
#: How long a guest rests before its script: far from the beginning of its clock timers are exact.
REST_SECONDS = 10
#: Memory of a guest unless it needs more. It takes of the host's only what it uses.
MEMORY_BYTES = 2**30
#: How often its output and its progress are looked at.
_LOOK_SECONDS = 0.05
#: A file system in memory, and what must be free there beside the guest.
_IN_MEMORY, _ROOM = Path("/dev/shm"), 1.5
#: Lines of the kernel's last words that are shown when it dies.
_LAST_LINES = 3
#: With this the kernel says why it gives up.
_PANIC = "Kernel panic"

#: Names of the libraries that the kernel loads, in the guest's folder.
_SIMULATOR, _STUBS = "simulator.so", "stubs.so"
#: Where a guest has files of its own.
_TEMPORARY = Path("/tmp")
#: What programs of ours in a guest are made of: Python, its environment, and this package.
_OWN = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).resolve().parents[1])

Tell = Callable[[str], None]
TellTime = Callable[[float, str], None]
"""Takes the seconds that have passed in a guest since its script began, and the program that runs."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a guest is to do.

    Attributes
    ----------
    script
        A shell script that the guest's first process runs. Interfaces ``lossy0`` and ``lossy1`` are there.
    path
        The path between them: a configuration in the simulator's words.
    seed
        Decides every random draw of the kernel.
    files
        More files for the guest, by name; the script finds them in ``$LOSSYLINK_WORK``.
    programs
        Programs of the host, by the names that they get beside these files: a guest does not see every
        folder of the host.
    records
        Whether what passes at the near host is recorded, to ``record.pcap``.
    here
        A directory that the guest sees even where it is temporary: that of the user.
    sees
        Further files and directories of this kind, such as a script. Python and this package always are.
    """

    script: str
    path: Mapping[str, Any]
    seed: int = 1
    files: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, Path] = field(default_factory=dict)
    records: bool = False
    memory_bytes: int = MEMORY_BYTES
    here: Path = field(default_factory=Path.cwd)
    sees: Sequence[Path] = ()


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What came of a guest; ``work`` holds its files as long as the guest is entered.

    Attributes
    ----------
    status
        The exit code of its script.
    report
        What the path counted, as keys of a row.
    timeline
        The bins of a time line, column by column; empty without one.
    """

    status: int
    report: Mapping[str, Any]
    timeline: Mapping[str, list[float]]
    wall_seconds: float
    work: Path

    @property
    def virtual_seconds(self) -> float:
        """How long the script took by the guest's clock."""
        return float(self.report["simulated_seconds"])


class Guest:
    """A context manager around one run: its files vanish with it, and no process outlives it."""

    def __init__(self, kernel: Kernel, plan: Plan) -> None:
        self._kernel, self._plan = kernel, plan
        self._folder = tempfile.TemporaryDirectory(prefix="lossylink-guest-", dir=temporary_folder())

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return Path(self._folder.name)

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def run(
        self, *, on_output: Tell = print, on_error: Tell = print, on_time: TellTime | None = None
    ) -> Finished:
        """Run the guest to its end; its lines and its time go to the callbacks as they come.

        Raises
        ------
        RunError
            It died, or a program in it keeps the processor and lets no time pass.
        """
        work = self.folder
        self._write(work)
        out, err = work / "out", work / "err"
        started = time.monotonic()
        process: subprocess.Popen[bytes] | None = None
        try:
            # A process without a name would outlive a Ctrl-C, and write into the folder that vanishes.
            with out.open("wb") as stdout, err.open("wb") as stderr, interrupted_later():
                process = subprocess.Popen(
                    self._command(work), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                    env=self._environment(work), start_new_session=True,
                )  # fmt: skip
            with _Tail(out, on_output) as said, _Tail(err, on_error) as complained:
                _follow(process, (said, complained), Watch(work / "clock", process.pid), on_time)
        finally:
            if process is not None:
                _end(process)
        return _finished(work, time.monotonic() - started)

    def _write(self, work: Path) -> None:
        plan = self._plan
        link = {
            "path": plan.path,
            "report": str(work / "report.json"),
            "record": str(work / "record.pcap") if plan.records else None,
        }
        texts = {
            "path.json": json.dumps(link),
            "script.sh": plan.script,
            "boot.sh": (Path(__file__).parent / "boot.sh").read_text(),
            "clock": "",
            "seen": "".join(f"{path}\n" for path in temporary((plan.here, *plan.sees, *_OWN))),
        }
        for name, text in (texts | dict(plan.files)).items():
            (work / name).write_text(text)
        for name, program in plan.programs.items():
            shutil.copy(program, work / name)
        # The kernel's command line and LD_PRELOAD end a path at a space.
        for name, library in ((_SIMULATOR, simulator()), (_STUBS, stubs_library(cache_folder()))):
            (work / name).symlink_to(library.absolute())
        (work / "boot.sh").chmod(0o755)

    def _command(self, work: Path) -> list[str]:
        return [
            # Where the kernel lies in memory decides how much of it there is.
            *("setarch", "--addr-no-randomize"),
            str(self._kernel.binary),
            f"mem={self._plan.memory_bytes // 2**20}M",
            *(
                "root=none",
                "rootfstype=hostfs",
                "rootflags=/",
                "rw",
                "quiet",
                # At zero a kernel that gives up does not say why.
                "loglevel=1",
                f"init={work / 'boot.sh'}",
            ),
            *("time-travel=inf-cpu", f"time-travel-start={START_NS}", f"uml_dir={work}"),
            # Standard output and error of the script; a program sees a terminal.
            *("con=null", "con0=null,fd:1", "con1=null,fd:2"),
            *(f"lossylink.library={work / _SIMULATOR}", f"lossylink.configuration={work / 'path.json'}"),
            *(f"LOSSYLINK_WORK={work}", f"LOSSYLINK_REST={REST_SECONDS}"),
        ]

    def _memory_folder(self, work: Path) -> Path:
        """Return where the file lies that is the guest's memory: in memory, if there is room for it."""
        try:
            free = shutil.disk_usage(_IN_MEMORY).free
        except OSError:
            return work
        return (
            _IN_MEMORY if free > _ROOM * self._plan.memory_bytes and os.access(_IN_MEMORY, os.W_OK) else work
        )

    def _environment(self, work: Path) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(work),
            "TMPDIR": str(self._memory_folder(work)),
            "LD_PRELOAD": str(work / _STUBS),
            "LOSSYLINK_SEED": str(self._plan.seed),
            "LOSSYLINK_STATUS": str(work / "clock"),
        }


def temporary(paths: Iterable[Path]) -> list[Path]:
    """Return those of the paths that a guest does not see unless it is told, the outer ones first.

    Examples
    --------
    >>> temporary([Path("/tmp/clone/.venv"), Path("/usr"), Path("/tmp/clone"), Path("/tmp/x.sh")])
    [PosixPath('/tmp/clone'), PosixPath('/tmp/x.sh')]
    """
    inside = sorted({path for path in paths if path == _TEMPORARY or _TEMPORARY in path.parents})
    return [path for path in inside if not set(path.parents) & set(inside)]


class _Tail:
    """Hands on the lines of a growing file."""

    def __init__(self, path: Path, tell: Tell) -> None:
        self._file, self._tell, self._rest = path.open(errors="replace"), tell, ""

    def look(self) -> None:
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        for line in lines:
            self._tell(line.rstrip("\r"))

    def __enter__(self) -> _Tail:
        return self

    def __exit__(self, *_: object) -> None:
        self.look()
        if self._rest:
            self._tell(self._rest)
        self._file.close()


def _follow(
    process: subprocess.Popen[bytes], tails: tuple[_Tail, ...], watch: Watch, on_time: TellTime | None
) -> None:
    while process.poll() is None:
        for tail in tails:
            tail.look()
        watch.look()
        if on_time is not None and watch.clock_ns:
            passed = watch.clock_ns / 1e9 - REST_SECONDS
            on_time(max(0.0, passed), watch.running)
        time.sleep(_LOOK_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the kernel with the processes of its guest, which are of its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _finished(work: Path, wall_seconds: float) -> Finished:
    status, report = work / "status", work / "report.json"
    if not status.exists() or not report.exists():
        raise RunError(f"the guest died: {_last_words(work) or 'without a word'}")
    told = json.loads(report.read_text())
    row = told["row"]
    row["simulated_seconds"] -= REST_SECONDS
    return Finished(
        status=int(status.read_text()),
        report=row,
        timeline=told["timeline"],
        wall_seconds=wall_seconds,
        work=work,
    )


def _last_words(work: Path) -> str:
    """Return why a guest died: what the kernel says of it, or else what was said last."""
    err, out = ((work / name).read_text(errors="replace").splitlines() for name in ("err", "out"))
    panics = [line.strip() for line in out if line.startswith(_PANIC)]
    return " / ".join(panics[:1] or err[-_LAST_LINES:] or out[-_LAST_LINES:])
