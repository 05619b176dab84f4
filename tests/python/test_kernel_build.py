"""The kernel for virtual time: edits, keys, the cache, commands, and builds by programs that only pretend."""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lossylink._package.resources import KERNEL
from lossylink.cli.exits import FAILED, INTERRUPTED, MISTAKE
from lossylink.errors import RunError, UserError
from lossylink.linux import doctor
from lossylink.linux.kernel import build_kernel, cache, find_kernel, machine, require_kernel
from lossylink.linux.kernel.configuring import check_options
from lossylink.linux.kernel.edits import EDITS, Edit, apply_edits
from lossylink.linux.kernel.lock import only_builder
from lossylink.linux.kernel.recipe import DRIVER, FRAGMENT, key_of, recipe_hash
from lossylink.linux.kernel.sources import own_tree

from .conftest import Ended

Command = Callable[..., Ended]

RELEASE = "6.12.117-1~deb12u1"

#: What the pretended programs do. A build hands no environment on: what they are told are files beside them.
PROGRAMS = {
    "gcc": "echo 'gcc (Debian) 12.2.0'",
    "apt-get": """
        for word; do :; done
        case "$word" in *6.12*) ;; *) exit 100;; esac
        if [ "$2" = --print-uris ]
        then echo "'http://x/y.deb' linux-source-6.12_RELEASE_all.deb 1000 SHA256:0"
        else echo 1 > linux-source-6.12_RELEASE_all.deb
        fi""".replace("RELEASE", RELEASE),
    "dpkg-deb": """
        mkdir -p "$3/usr/src"
        cp "$here/linux-source-6.12.tar.xz" "$3/usr/src" """,
    "make": """
        case "$*" in
        *mrproper) rm -f built.o;;
        *olddefconfig) ;;
        *defconfig) : > .config;;
        *linux)
            case "$PWD" in *" "*|*:*) echo '*** source directory cannot contain spaces'; exit 2;; esac
            echo '  CC      one.o'
            [ -e "$here/broken" ] && { echo 'one.c:1: error: no luck'; echo 'make: *** [x] Error 1'; exit 2; }
            [ -e "$here/slow" ] && { echo $$ > "$here/slow"; exec sleep 60; }
            echo a kernel > linux;;
        esac""",
    "strip": 'cp "$3" "$2"',
    **dict.fromkeys(("flex", "bison", "bc", "ld"), "true"),
}
MERGE = "#!/bin/sh\ngrep -v =n $5 > $4\n"


def files_of_a_tree() -> dict[str, str]:
    """The files of a small tree that takes every edit."""
    files = {"Makefile": "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n", "arch/um/drivers/rtc.c": ""}
    for edit in EDITS:
        files[edit.file] = files.get(edit.file, "") + edit.sought
    return {**files, "scripts/kconfig/merge_config.sh": MERGE}


def plant(folder: Path) -> Path:
    """Write a small tree into a folder."""
    for name, text in files_of_a_tree().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lossylink" / "kernel"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of pretended programs, which come first; each writes down that it was called."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in PROGRAMS.items():
        path = folder / name
        head = f'#!/bin/sh\nhere="{folder}"\necho {name} "$@" >> "$here/calls"\n'
        path.write_text(head + text + "\n")
        path.chmod(0o755)
    with tarfile.open(folder / "linux-source-6.12.tar.xz", "w:xz", preset=0) as archive:
        for name, text in files_of_a_tree().items():
            member = tarfile.TarInfo(f"linux-source-6.12/{name}")
            member.size, member.mode = len(text), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(machine, "free_bytes", lambda _: 10**12)
    return folder


def calls(programs: Path) -> list[str]:
    """What was called since the last look, without questions."""
    path = programs / "calls"
    lines = path.read_text().splitlines() if path.is_file() else []
    path.unlink(missing_ok=True)
    return [line for line in lines if "--version" not in line and "--print-uris" not in line]


# --- edits


def test_every_edit_is_made_once_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree")
    apply_edits(tree)
    once = {edit.file: (tree / edit.file).read_text() for edit in EDITS}
    assert "default 1000\n" in once["arch/um/Kconfig"]
    assert all(once[edit.file].count(edit.put) == 1 for edit in EDITS)
    apply_edits(tree)
    assert once == {edit.file: (tree / edit.file).read_text() for edit in EDITS}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nothing\n", "a.c: 'slow();' is found not and not once"),
        ("slow();\nslow();\n", "a.c: 'slow();' is found 2 times and not once"),
    ],
)
def test_an_edit_that_does_not_fit_names_file_and_text(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.c").write_text(text)
    with pytest.raises(UserError) as error:
        apply_edits(tmp_path, [Edit("a.c", "slow();\n", "fast();\n")])
    assert says in str(error.value)
    assert (tmp_path / "a.c").read_text() == text


def test_an_edit_of_a_missing_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read a\.c in .*: No such file"):
        apply_edits(tmp_path, [Edit("a.c", "x", "y")])


# --- keys


def test_any_change_of_an_input_changes_the_key(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    for name in (*DRIVER, FRAGMENT):
        (folder / name).write_text("1")
    before = recipe_hash(folder)
    assert before == recipe_hash(folder)
    found = {before, recipe_hash(folder, EDITS[1:]), recipe_hash(folder, [replace(EDITS[0], put="x")])}
    for name in (*DRIVER, FRAGMENT):
        (folder / name).write_text("2")
        found.add(recipe_hash(folder))
    assert len(found) == 3 + len(DRIVER) + 1

    words = {"recipe": "a", "source": "b", "compiler": "c"}
    keys = {key_of(**words), *(key_of(**{**words, name: "other"}) for name in words)}
    assert len(keys) == 4


def test_a_tree_is_another_when_a_file_of_it_changes_but_not_its_history(tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree")
    before = own_tree(tree).identity
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("x")
    assert own_tree(tree).identity == before
    (tree / "arch/um/drivers/rtc.c").write_text("changed")
    assert own_tree(tree).identity != before
    assert own_tree(tree).version == "6.12.117"


@pytest.mark.parametrize("name", ["CONFIG_TUN", "CONFIG_PPP"])
def test_an_option_that_is_not_taken_is_named(name: str) -> None:
    taken = {"CONFIG_TUN": "CONFIG_TUN=y\n", "CONFIG_PPP": ""}
    fragment = "# CONFIG_NO=y\nCONFIG_TUN=y\nCONFIG_PPP=n\n"
    check_options(fragment, "".join(taken.values()))
    wrong = {**taken, name: "" if taken[name] else f"{name}=y\n"}
    with pytest.raises(UserError, match=f"does not take {name}="):
        check_options(fragment, "".join(wrong.values()))


def test_the_fragment_asks_for_each_option_once() -> None:
    lines = (KERNEL / FRAGMENT).read_text().splitlines()
    names = [line.partition("=")[0] for line in lines if line.startswith("CONFIG_")]
    assert sorted(names) == sorted(set(names))


# --- builds


def test_a_build_leaves_a_kernel_and_nothing_else(programs: Path, root: Path, command: Command) -> None:
    ended = command("kernel", "build", "--jobs", "3")
    assert ended.code == 0, ended.err
    assert "Linux 6.12.117 for virtual time, built in" in ended.out
    assert [line.split(":")[0] for line in ended.err.splitlines()] == [
        f"download linux-source-6.12 {RELEASE}",
        "unpack",
        "configure",
        "compile, 3 files at a time",
    ]
    kernel = require_kernel()
    assert kernel == find_kernel()
    assert kernel.binary.read_text() == "a kernel\n"
    assert sorted(path.name for path in root.iterdir()) == sorted([kernel.key, "lock"])
    assert calls(programs)[-2:] == ["make ARCH=um -j3 linux", f"strip -o {_finished(root, kernel.key)} linux"]


def _finished(root: Path, key: str) -> Path:
    return root / f"work-{key}" / "finished" / "linux"


def test_a_cache_below_a_space_has_its_kernels_built_elsewhere(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux is not built below a space or a colon. An ordinary user may have one in the home's path."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new comer: her cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (programs / "broken").touch()
    with pytest.raises(RunError, match="no luck"):
        build_kernel()
    assert [build.folder.parent for build in cache.unfinished()] == [cache.build_folder()]
    (programs / "broken").unlink()
    kernel = build_kernel()
    assert kernel.binary.parent.parent == cache.cache_folder()
    assert kernel == find_kernel()
    assert not cache.build_folder().exists()


def test_a_second_build_does_nothing_and_force_does_everything(programs: Path) -> None:
    first = build_kernel()
    calls(programs)
    assert build_kernel() == first
    assert calls(programs) == []
    first.binary.write_text("a damaged kernel\n")
    assert find_kernel() is None
    again = build_kernel(force=True)
    assert again.binary.read_text() == "a kernel\n"
    assert calls(programs)[0].startswith("apt-get download")


def test_a_build_that_failed_says_why_and_goes_on_with_make(
    programs: Path, root: Path, command: Command
) -> None:
    (programs / "broken").touch()
    ended = command("kernel", "build", "--jobs", "1")
    assert ended.code == FAILED
    assert "error: make failed: one.c:1: error: no luck; all that it said is in" in ended.err
    assert "unfinished" in command("kernel", "status").out
    broken = (programs / "make").read_text()
    (programs / "make").write_text("#!/bin/sh\necho another reason; exit 2\n")
    with pytest.raises(RunError, match="make failed: another reason; all that it said is in"):
        build_kernel()
    (programs / "make").write_text(broken)
    calls(programs)
    (programs / "broken").unlink()
    assert build_kernel(jobs=1).binary.is_file()
    assert [line.split()[:3] for line in calls(programs)] == [
        ["make", "ARCH=um", "-j1"],
        ["strip", "-o", str(_finished(root, require_kernel().key))],
    ]


def test_ctrl_c_ends_make_and_keeps_what_is_done(
    programs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def pressed(title: str) -> Iterator[Callable[[float, float], None]]:
        def update(done: float, total: float) -> None:
            if title.startswith("compile"):
                while not (programs / "slow").read_text():
                    time.sleep(0.01)
                raise KeyboardInterrupt

        yield update

    (programs / "slow").touch()
    monkeypatch.setattr("lossylink.cli.kernel.progress_bar", pressed)
    ended = command("kernel", "build", "--jobs", "1")
    assert ended.code == INTERRUPTED
    assert "what is done is kept: lossylink kernel build goes on from here" in ended.err
    with pytest.raises(ProcessLookupError):
        os.kill(int((programs / "slow").read_text()), 0)
    (programs / "slow").unlink()
    calls(programs)
    build_kernel(jobs=1)
    assert [line.split()[0] for line in calls(programs)] == ["make", "strip"]


def test_a_package_that_cannot_be_read_is_one_line(programs: Path) -> None:
    (programs / "dpkg-deb").write_text("#!/bin/sh\necho damaged; exit 2\n")
    with pytest.raises(RunError, match="dpkg-deb failed: damaged"):
        build_kernel()


def test_a_server_that_cannot_be_reached_is_one_line(programs: Path, command: Command) -> None:
    text = (programs / "apt-get").read_text()
    (programs / "apt-get").write_text(
        text.replace("else echo 1", "else echo 'E: Failed to fetch x'; exit 100; echo 1")
    )
    ended = command("kernel", "build")
    assert ended.code == FAILED
    assert "apt-get download linux-source-6.12 failed: E: Failed to fetch x; run apt-get update" in ended.err
    (programs / "apt-get").write_text(text)
    assert build_kernel().version == "6.12.117"


def test_a_tree_of_ones_own_is_copied_and_stays_as_it_is(programs: Path, tmp_path: Path) -> None:
    tree = plant(tmp_path / "mine")
    (tree / "built.o").touch()
    (tree / ".git").mkdir()
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    kernel = build_kernel(tree=tree)
    assert kernel.version == "6.12.117"
    assert kernel.source.startswith(f"{tree} 6.12.117 ")
    assert before == {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert "apt-get" not in " ".join(calls(programs))
    assert find_kernel() == kernel


def test_a_source_that_apt_does_not_offer(programs: Path, command: Command) -> None:
    ended = command("kernel", "build", "--version", "6.1")
    assert ended.code == MISTAKE
    assert (
        "apt does not offer linux-source-6.1; run apt-get update, or name a tree: --source DIR" in ended.err
    )


# --- machines that cannot


def test_a_machine_without_apt_is_told_of_source(
    programs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(programs))
    (programs / "apt-get").unlink()
    ended = command("kernel", "build")
    assert ended.code == MISTAKE
    assert "there is no apt-get on this machine" in ended.err
    assert "lossylink kernel build --source DIR" in ended.err


def test_missing_programs_are_named_with_their_packages(
    programs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (programs / "flex").unlink()
    (programs / "strip").unlink()
    for name in ("tar", "xz"):
        (programs / name).symlink_to("make")
    monkeypatch.setenv("PATH", str(programs))
    (programs / "gcc").write_text("#!/bin/sh\n")
    ended = command("kernel", "build")
    assert ended.code == MISTAKE
    assert ended.err == "error: strip, flex missing; run apt-get install binutils flex\n"


def test_another_processor_is_refused(
    programs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    ended = command("kernel", "build")
    assert ended.code == MISTAKE
    assert "virtual time needs x86-64, and this machine is aarch64" in ended.err
    assert doctor._virtual_time().state == "missing"


def test_a_full_disk_is_told_before_the_work(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_bytes", lambda _: 10**9)
    with pytest.raises(UserError, match=r"has 1\.0 GB free and a build needs 3 GB"):
        build_kernel()
    finding = doctor._virtual_time()
    assert finding.state == "limited"
    assert "1.0 GB free" in finding.found


def test_two_builds_do_not_meet(programs: Path) -> None:
    with only_builder(cache.cache_folder()) as note:
        with pytest.raises(
            UserError, match=r"another build of a kernel runs in [^:]*; wait for it, or end it"
        ):
            build_kernel()
        note("unpack", 0.0)
        note("compile, 2 files at a time", 0.63)
        said = (
            rf"runs in .* since \d\d:\d\d:\d\d \(0\.0 min, process {os.getpid()}\): "
            r"compile, 2 files at a time, 63%; wait for it, or end it"
        )
        with pytest.raises(UserError, match=said):
            build_kernel()
    build_kernel()


def test_a_build_says_how_far_it_is(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever else would build learns the step that runs."""
    steps: list[str] = []

    @contextmanager
    def progress(title: str) -> Iterator[Callable[[float, float], None]]:
        with pytest.raises(UserError, match="since") as refusal, only_builder(cache.cache_folder()):
            pass
        steps.append(str(refusal.value).partition("): ")[2].partition(", 0%")[0])
        assert steps[-1] == title
        yield lambda _done, _total: None

    build_kernel(progress=progress)
    assert len(steps) > 2


def test_a_cache_that_cannot_be_written_is_named(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    with pytest.raises(UserError, match=r"cannot write to /proc/nowhere/.*set XDG_CACHE_HOME"):
        build_kernel()


# --- the commands and the doctor


def test_without_a_kernel_one_line_says_how_to_get_one(root: Path, command: Command) -> None:
    assert find_kernel() is None
    with pytest.raises(UserError) as error:
        require_kernel()
    assert str(error.value).startswith(
        "there is no kernel for virtual time; run lossylink kernel build (about "
    )
    assert "lossylink kernel build makes it" in command("kernel", "status").out
    assert json.loads(command("kernel", "status", "--json").out) == {
        "folder": str(root),
        "recipe": recipe_hash(),
        "used": None,
        "kernels": [],
        "unfinished": [],
    }


def test_a_kernel_of_another_recipe_is_listed_and_not_used(
    programs: Path, root: Path, command: Command
) -> None:
    kernel = build_kernel()
    shown = command("kernel", "status").out
    assert f"{kernel.key}  Linux 6.12.117  used" in shown
    assert f"of linux-source-6.12 {RELEASE}, gcc (Debian) 12.2.0" in shown
    old = replace(kernel, recipe="other", key="0123", built_at="2999")
    (root / "0123").mkdir()
    (root / "0123" / "linux").write_text("a kernel\n")
    cache.write_record(old, root / "0123")
    assert find_kernel() == kernel
    facts = json.loads(command("kernel", "status", "--json").out)
    assert [one["key"] for one in facts["kernels"]] == ["0123", kernel.key]
    assert facts["used"]["binary"] == str(kernel.binary)
    assert "0123  Linux 6.12.117  not used" in command("kernel", "status").out
    (root / "0123" / "kernel.json").write_text("{")
    assert len(json.loads(command("kernel", "status", "--json").out)["kernels"]) == 1


def test_remove_takes_everything_away_when_told_so(programs: Path, root: Path, command: Command) -> None:
    assert "nothing to remove" in command("kernel", "remove", "--yes").out
    build_kernel()
    (root / "work-abc").mkdir()
    (root / "a-library.so").touch()
    refused = command("kernel", "remove")
    assert refused.code == MISTAKE
    assert "--yes" in refused.err
    assert "removed kernels: 1, unfinished builds: 1" in command("kernel", "remove", "--yes").out
    assert [path.name for path in root.iterdir()] == ["lock"]


def test_the_doctor_knows_whether_there_is_a_kernel(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "trace_obstacle", lambda: None)
    finding = doctor._virtual_time()
    assert (finding.state, finding.found) == ("limited", "no kernel yet")
    assert finding.mend.startswith("lossylink kernel build (about ")
    build_kernel()
    finding = doctor._virtual_time()
    assert (finding.state, finding.found, finding.mend) == ("ok", "Linux 6.12.117 is built", "")
    monkeypatch.setattr(machine, "trace_obstacle", lambda: "ptrace is refused")
    assert doctor._virtual_time().state == "missing"


def test_the_doctor_names_missing_programs(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "trace_obstacle", lambda: None)
    monkeypatch.setattr(machine, "missing_tools", lambda: ["bc", "flex"])
    finding = doctor._virtual_time()
    assert (finding.state, finding.mend) == ("missing", "apt-get install bc flex")


def test_this_machine_lets_a_process_be_traced_or_says_why() -> None:
    reason = machine.trace_obstacle()
    assert reason is None or "ptrace" in reason
