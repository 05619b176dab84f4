"""``lossylink kernel``: the Linux kernel that runs in virtual time, built on this machine."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from lossylink._package.progress import progress_bar
from lossylink.cli.options.declaring import Group, flag, option
from lossylink.cli.options.kinds import PATH, whole
from lossylink.errors import UserError
from lossylink.linux.kernel import build_kernel
from lossylink.linux.kernel.cache import cache_folder, find_kernel, kernels, remove_all, unfinished
from lossylink.linux.kernel.recipe import recipe_hash

app = Group("kernel", help="The Linux kernel that runs in virtual time.", no_args_is_help=True)


@app.command("build")
@option("--source", kind=PATH, help="A kernel's source tree, which stays as it is, in place of Debian's.")
@option("--version", help="Series of Debian's source, 6.12 or 6.1; the first that apt offers.")
@option("--jobs", kind=whole(least=1), help="Files compiled at a time; one a core when not given.")
@flag("--force", help="Build from the start, whatever is there.")
def build(source: Path | None, version: str | None, jobs: int | None, force: bool) -> None:
    """Build the kernel for virtual time from Debian's source, in a few minutes and without root.

    The kernel goes into $XDG_CACHE_HOME or ~/.cache. A build that was stopped goes on where it was.
    A kernel of the same source, changes and compiler is not built again.

    Examples
    --------
        lossylink kernel build

        lossylink kernel build --version 6.1 --jobs 4

        lossylink kernel build --source linux-6.12.50
    """
    try:
        kernel = build_kernel(tree=source, series=version, jobs=jobs, force=force, progress=_step)
    except KeyboardInterrupt:
        print("what is done is kept: lossylink kernel build goes on from here", file=sys.stderr)
        raise
    print(f"Linux {kernel.version} for virtual time, built in {kernel.seconds:.0f} s: {kernel.binary}")


@contextmanager
def _step(title: str) -> Iterator[Callable[[float, float], None]]:
    """Show one step of a build on stderr, and how long it took."""
    started = time.monotonic()
    with progress_bar(title) as update:
        yield update
    print(f"{title}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


@app.command("status")
@flag("--json", "as_json", help="Print one JSON object.")
def status(as_json: bool) -> None:
    """Show which kernels there are, which one is used, and which builds were stopped.

    The hash `recipe` in JSON is that of driver, edits and configuration: a cache of CI may be named by it.

    Examples
    --------
        lossylink kernel status

        lossylink kernel status --json
    """
    used, stopped = find_kernel(), unfinished()
    if as_json:
        facts = {
            "folder": str(cache_folder()),
            "recipe": recipe_hash(),
            "used": None if used is None else used.as_dict(),
            "kernels": [kernel.as_dict() for kernel in kernels()],
            "unfinished": [{"key": work.key, "folder": str(work.folder)} for work in stopped],
        }
        print(json.dumps(facts))
        return
    for kernel in kernels():
        use = "used" if kernel == used else "not used"
        print(f"{kernel.key}  Linux {kernel.version}  {use}  {kernel.bytes / 1e6:.1f} MB  {kernel.binary}")
        print(f"{'':{len(kernel.key)}}  of {kernel.source}, {kernel.compiler}, {kernel.seconds:.0f} s")
    for work in stopped:
        print(f"{work.key}  unfinished  {work.folder}")
    if used is None:
        print("there is no kernel for virtual time; lossylink kernel build makes it")


@app.command("remove")
@flag("--yes", help="Ask nothing.")
def remove(yes: bool) -> None:
    """Remove every kernel for virtual time, and what is left of builds that were stopped.

    Examples
    --------
        lossylink kernel remove --yes
    """
    whole, parts = len(kernels()), len(unfinished())
    if not whole + parts:
        print("there is nothing to remove")
        return
    what = f"kernels: {whole}, unfinished builds: {parts}, in {cache_folder()}"
    if not yes:
        if not sys.stdin.isatty():
            raise UserError("nobody is there to confirm that everything is removed; say so with --yes")
        click.confirm(f"remove {what}?", abort=True)
    remove_all()
    print(f"removed {what}")
