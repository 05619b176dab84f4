"""What lossylink changes in the kernel's own sources, as exact replacements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import UserError


@dataclass(frozen=True)
class Edit:
    """One exact replacement in one file of a kernel tree."""

    file: str
    sought: str
    put: str


def _after(file: str, line: str, added: str) -> Edit:
    """Return the edit that adds text behind a line."""
    return Edit(file, line, line + added)


_SYSCALL = "arch/um/kernel/skas/syscall.c"
_TIME = "arch/um/kernel/time.c"
_TIMER_CONSTANTS = "arch/um/include/linux/time-internal.h"
_UTIL = "arch/um/os-Linux/util.c"
_DRIVERS = "arch/um/drivers/Makefile"

#: The edits of Linux 6.1 and 6.12, whose texts are the same here.
EDITS: tuple[Edit, ...] = (
    # Timers tick every millisecond, and the clock counts single nanoseconds.
    Edit("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", "config HZ\n\tint\n\tdefault 1000\n"),
    Edit(_TIMER_CONSTANTS, "#define TIMER_MULTIPLIER 256\n", "#define TIMER_MULTIPLIER 1\n"),
    Edit(_TIMER_CONSTANTS, "#define TIMER_MIN_DELTA  500\n", "#define TIMER_MIN_DELTA  1\n"),
    # A system call that fails takes a nanosecond in place of a microsecond.
    Edit(_SYSCALL, "\t\t\tum_udelay(1);\n", "\t\t\tum_ndelay(1);\n"),
    # The driver counts the system calls between two sleeps, so that a program that polls does not stop time.
    _after(_SYSCALL, "#include <asm/delay.h>\n", '#include "../../drivers/lossylink.h"\n'),
    Edit(
        _SYSCALL,
        "\t\t\tschedule();\n\t\t}\n\t}\n\nout:\n",
        "\t\t\tschedule();\n\t\t}\n\t}\n\tlossylink_after_syscall();\n\nout:\n",
    ),
    _after(_TIME, "#include <shared/init.h>\n", '#include "../drivers/lossylink.h"\n'),
    _after(_TIME, "\tunsigned long long next = S64_MAX;\n", "\n\tlossylink_before_sleep();\n"),
    # A timer that may be late is as late as it may be, as on a host with nothing else to do. The hosts
    # of a guest share a processor, where a timer of one would take those of the other along.
    Edit(
        "kernel/time/hrtimer.c",
        "\t\t\tif (basenow < hrtimer_get_softexpires_tv64(timer))\n",
        "\t\t\tif (basenow < hrtimer_get_expires_tv64(timer))\n",
    ),
    # The seed is the only source of chance: paths on the command line are none.
    Edit(
        "kernel/irq/handle.c",
        "\tadd_interrupt_randomness(desc->irq_data.irq);\n",
        "\t/* Interrupts are no source of chance: lossylink's seed is the only one. */\n",
    ),
    Edit("init/main.c", "\trandom_init_early(command_line);\n", '\trandom_init_early("");\n'),
    _after(_UTIL, "#include <os.h>\n", '#include "../drivers/lossylink.h"\n'),
    Edit(_UTIL, "\treturn getrandom(buf, len, flags);\n", "\treturn lossylink_random(buf, len);\n"),
    # A program of the guest ends with the kernel: without its tracer it would run on the host.
    Edit(
        "arch/um/os-Linux/skas/process.c",
        "\t\t   (void *) PTRACE_O_TRACESYSGOOD) < 0) {\n",
        "\t\t   (void *) (PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) < 0) {\n",
    ),
    # Room for the registers of processors with AMX: XSAVE takes 11,008 bytes there. Not tried on one.
    Edit(
        "arch/x86/um/user-offsets.c",
        "DEFINE_LONGS(HOST_FP_SIZE, 2696);\n",
        "DEFINE_LONGS(HOST_FP_SIZE, 12288);\n",
    ),
    # The driver is part of the kernel.
    _after(
        _DRIVERS,
        "rtc-objs := rtc_kern.o rtc_user.o\n",
        "lossylink-objs := lossylink_kern.o lossylink_user.o\n",
    ),
    _after(_DRIVERS, "obj-$(CONFIG_UML_RTC) += rtc.o\n", "obj-y += lossylink.o\n"),
)


def apply_edits(tree: Path, edits: Sequence[Edit] = EDITS) -> None:
    r"""Make every edit in a kernel tree that has not been made there already.

    Raises
    ------
    UserError
        A file is missing, or it holds what an edit seeks not exactly once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.c").write_text("slow();\n")
    ...     apply_edits(Path(folder), [Edit("a.c", "slow();\n", "fast();\n")])
    ...     (Path(folder) / "a.c").read_text()
    'fast();\n'
    """
    for edit in edits:
        path = tree / edit.file
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(
                f"cannot read {edit.file} in {tree}: {error.strerror}; take a tree of Linux 6.1 or 6.12"
            ) from None
        changed = _edited(text, edit)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def _edited(text: str, edit: Edit) -> str:
    if text.count(edit.put) == 1:
        return text
    found = text.count(edit.sought)
    if found != 1:
        times = "not" if found == 0 else f"{found} times"
        sought = " ".join(edit.sought.split())
        raise UserError(
            f"{edit.file}: '{sought}' is found {times} and not once; take a tree of Linux 6.1 or 6.12"
        )
    return text.replace(edit.sought, edit.put)
