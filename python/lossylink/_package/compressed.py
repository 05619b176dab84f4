"""Files that may be compressed by gzip (RFC 1952) or Zstandard (RFC 8878).

The first bytes of a file tell, not its name. Standard input is read as a file.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from lossylink.errors import UserError

# The standard library has it from Python 3.14 on; before, its backport has the same interface.
if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STANDARD_INPUT: Final = Path("-")
"""What a user gives in place of a file, as other tools take it."""

GZIP: Final = b"\x1f\x8b"
ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"


def read_text(path: Path, *, most_bytes: int, what: str) -> str:
    """Return the text of a file, decompressed.

    Parameters
    ----------
    path
        A file, or ``-`` for standard input.
    most_bytes
        The longest text that is read.
    what
        What the file is, in words, for an error.

    Raises
    ------
    UserError
        The file cannot be read, is damaged, too long, or no text.
    """
    with opened(path, what=what) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise UserError(f"{path}: {what} has at most {most_bytes} bytes; shorten it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text, and {what} is") from None


@contextmanager
def opened(path: Path, *, what: str = "the file") -> Iterator[BinaryIO]:
    """Open a regular file or standard input, whose bytes come decompressed.

    Raises
    ------
    UserError
        The file cannot be opened, is no regular file, or turns out to be damaged while it is read.
    """
    with _told(path, what), _raw(path, what) as file:
        yield _decompressing(file)


@contextmanager
def plain(path: Path, *, what: str = "the file") -> Iterator[BinaryIO]:
    """Open a file that has a place on the disk, for readers that go back and forth in it.

    What is compressed is decompressed into a file without a name.
    """
    with _told(path, what), _raw(path, what) as file:
        if not _is_compressed(_begin(file)):
            yield file
            return
        with tempfile.TemporaryFile() as whole:
            shutil.copyfileobj(_decompressing(file), whole)
            whole.seek(0)
            yield cast(BinaryIO, whole)


@contextmanager
def kept(path: Path) -> Iterator[Path]:
    """Give a file that can be read more than once: standard input is laid aside for as long."""
    if path != STANDARD_INPUT:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="standard-input-") as whole:
        shutil.copyfileobj(sys.stdin.buffer, whole)
        whole.flush()
        yield Path(whole.name)


@contextmanager
def _raw(path: Path, what: str) -> Iterator[BinaryIO]:
    """Open a file as it stands; standard input has no end to go back from, so it is laid aside first."""
    if path == STANDARD_INPUT:
        with tempfile.TemporaryFile() as whole:
            shutil.copyfileobj(sys.stdin.buffer, whole)
            whole.seek(0)
            yield cast(BinaryIO, whole)
        return
    with open(path, "rb", opener=_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UserError(f"{what} {path} is no regular file; record it in one")
        yield file


def suffix_of(path: Path) -> str:
    """Return how the name of a file ends, without what a compressor appended.

    Examples
    --------
    >>> suffix_of(Path("sizes.csv.zst")), suffix_of(Path("sizes.csv"))
    ('.csv', '.csv')
    """
    return path.with_suffix("").suffix if path.suffix in {".gz", ".zst"} else path.suffix


def _at_once(name: str, flags: int) -> int:
    # A pipe without a writer would hold the command up before it is seen to be a pipe.
    return os.open(name, flags | os.O_NONBLOCK)


@contextmanager
def _told(path: Path, what: str) -> Iterator[None]:
    """Turn what goes wrong into one line."""
    try:
        yield
    except UserError:
        raise
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(
            f"{path} is damaged or was cut off ({_first_line(error)}); compress it again"
        ) from None
    except OSError as error:
        raise UserError(f"cannot read {what} {path}: {error.strerror}") from None
    except Exception as error:  # that of the Zstandard library, whose class is only known once it is loaded
        if type(error).__name__ != "ZstdError":
            raise
        raise UserError(f"{path} is damaged ({_first_line(error)}); compress it again") from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else "no end"


def _begin(file: BinaryIO) -> bytes:
    begin = file.read(len(ZSTANDARD))
    file.seek(0)
    return begin


def _is_compressed(begin: bytes) -> bool:
    return begin.startswith(GZIP) or begin == ZSTANDARD


def _decompressing(file: BinaryIO) -> BinaryIO:
    begin = _begin(file)
    if begin.startswith(GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if begin == ZSTANDARD:
        return cast(BinaryIO, zstd.ZstdFile(file))
    return file
