"""Where a lab keeps its control sockets and what it was asked for, and how its namespaces are called."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import RunError, UserError
from lossylink.linux.lab.process import Process, process_of
from lossylink.linux.lab.settings import LabSettings

#: Every namespace of every lab begins so.
PREFIX = "lossylink-"
_NAME = re.compile(r"[a-z0-9]{0,12}")


def runtime_directory() -> Path:
    """Return the place for control sockets, one that is emptied when the machine starts."""
    if os.geteuid() == 0:
        return Path("/run/lossylink")
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "lossylink"
    return Path(f"/tmp/lossylink-{os.geteuid()}")


def _is_file(descriptor: int, path: Path) -> bool:
    """Whether a descriptor is of the file that is there at present."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


@dataclass(frozen=True)
class LabDirectory:
    """The files of one lab. The unnamed lab is the one that ``lossylink lab`` uses when no other is named."""

    name: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UserError(f"'{self.name}' is no name for a lab: up to 12 lower-case letters and digits")

    @property
    def prefix(self) -> str:
        """How the names of this lab's namespaces begin.

        Examples
        --------
        >>> LabDirectory().prefix, LabDirectory("run7").prefix
        ('lossylink-', 'lossylink-run7-')
        """
        return f"{PREFIX}{self.name}-" if self.name else PREFIX

    @property
    def path(self) -> Path:
        """The directory, in a place that is emptied when the machine starts."""
        return runtime_directory() / (self.name or "lab")

    @property
    def settings_file(self) -> Path:
        """What the lab was asked for; it is written before anything is made."""
        return self.path / "settings.json"

    def control(self, plane: str) -> Path:
        """Return the control socket of a data plane."""
        return self.path / f"{plane}.sock"

    def log(self, plane: str) -> Path:
        """Return the file that takes what a data plane prints."""
        return self.path / f"{plane}.log"

    @property
    def option(self) -> str:
        """What names this lab on a command line: nothing for the unnamed one.

        Examples
        --------
        >>> LabDirectory("run7").option
        ' --name run7'
        """
        return f" --name {self.name}" if self.name else ""

    @contextmanager
    def locked(self, *, wait: bool) -> Iterator[None]:
        """Let nobody else build or remove this lab meanwhile; the kernel unlocks it when this process ends.

        Raises
        ------
        UserError
            Somebody else is at it, and this process does not ``wait``.
        RunError
            The lock cannot be made.
        """
        descriptor = self._lock(wait=wait)
        try:
            yield
        finally:
            if not self.path.exists():
                self._lock_file.unlink(missing_ok=True)
            os.close(descriptor)

    @property
    def _lock_file(self) -> Path:
        return self.path.with_name(f".{self.path.name}.lock")

    def _lock(self, *, wait: bool) -> int:
        lock = self._lock_file
        try:
            while True:
                lock.parent.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                    if _is_file(descriptor, lock):
                        return descriptor
                except BaseException:
                    os.close(descriptor)
                    raise
                # Who held it has removed it with the lab: others lock another file by now.
                os.close(descriptor)
        except BlockingIOError:
            raise UserError(
                "another command builds or removes this lab at this moment: "
                f"wait for it, then look with `lossylink lab status{self.option}`"
            ) from None
        except OSError as error:
            raise RunError(f"cannot lock the lab by {lock}: {error.strerror}") from None

    def make(self, settings: LabSettings, *, owner: Process | None = None) -> None:
        """Make the directory, for its user alone, and note what was asked for and by which process."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.path.stat().st_uid != os.geteuid():
            raise UserError(f"{self.path} belongs to somebody else")
        if owner is not None:
            (self.path / "owner").write_text(f"{owner.pid} {owner.start_ticks}")
        self.settings_file.write_text(settings.model_dump_json())

    def owner(self) -> Process | None:
        """Return the process that took this lab up for itself, dead or alive; nothing for a user's lab."""
        try:
            pid, ticks = map(int, (self.path / "owner").read_text().split())
        except (FileNotFoundError, ValueError):
            return None
        now = process_of(pid)
        alive = now is not None and now.start_ticks == ticks
        return now if alive else Process(pid=pid, start_ticks=ticks, command="")

    def settings(self) -> LabSettings | None:
        """Return what the lab was asked for; nothing when there is no lab, or its file is unreadable."""
        try:
            return LabSettings.model_validate_json(self.settings_file.read_text())
        except (FileNotFoundError, ValueError):
            return None

    def remove(self) -> None:
        """Remove every file."""
        if self.path.is_dir():
            for file in self.path.iterdir():
                file.unlink(missing_ok=True)
            self.path.rmdir()
