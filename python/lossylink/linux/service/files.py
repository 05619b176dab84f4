"""Files that lossylink writes for a machine, and leaves alone once somebody else has changed them."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import UserError

_HEAD = re.compile(r"# Written by lossylink; sha256 of the lines below: ([0-9a-f]{64})\n")


@dataclass(frozen=True)
class OurFile:
    """A file whose first line says what the rest was like when it was written."""

    path: Path
    body: str

    @property
    def text(self) -> str:
        """The whole file."""
        return f"# Written by lossylink; sha256 of the lines below: {_digest(self.body)}\n{self.body}"

    def present(self) -> str | None:
        """Return the text that is there; nothing if none is."""
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read {self.path}: {error}; move it away, or run this as root") from None

    def is_changed(self) -> bool:
        """Whether the file is there and not as some lossylink has written it."""
        text = self.present()
        head = None if text is None else _HEAD.match(text)
        return text is not None and (head is None or _digest(text[head.end() :]) != head[1])

    def differences(self) -> Iterator[str]:
        """Yield the lines in which the file that is there differs, as ``diff -u`` shows them."""
        there = (self.present() or "").splitlines()
        yield from difflib.unified_diff(there, self.text.splitlines(), str(self.path), "new", lineterm="")

    def write(self) -> str:
        """Write the file, for all to read, and return what was done in words."""
        before = self.present()
        if before == self.text:
            return f"{self.path} is up to date"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self.text, encoding="utf-8")
            self.path.chmod(0o644)
        except OSError as error:
            mend = "run this as root, or give --prefix"
            raise UserError(f"cannot write {self.path}: {error.strerror}; {mend}") from None
        return f"{self.path} {'written' if before is None else 'renewed'}"

    def remove(self) -> str:
        """Remove the file unless somebody has changed it, and return what was done in words."""
        if self.present() is None:
            return f"{self.path} is not there"
        if self.is_changed():
            return f"{self.path} was changed and stays"
        try:
            self.path.unlink()
        except OSError as error:
            raise UserError(f"cannot remove {self.path}: {error.strerror}; run this as root") from None
        return f"{self.path} removed"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
