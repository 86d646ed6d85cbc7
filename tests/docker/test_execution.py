"""One command in a container, from its start to its end or its limit, on a real engine."""

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import docker
import pytest

from hbench.container.docker_engine import DockerEngine
from hbench.container.engine import Command
from hbench.container.errors import Cancelled, GoneError, RefusedError
from tests.docker.said import Said

pytestmark = pytest.mark.docker

MEGABYTE = 1 << 20


def test_a_command_ends_with_its_status_and_its_output(said: Said) -> None:
    """Both streams, without what hbench says itself."""
    ended = said.sh("echo out; echo err >&2; exit 7")
    assert (ended.exit_code, ended.timed_out) == (7, False)
    assert sorted(said.output.splitlines()) == [b"err", b"out"]


def test_fifty_short_commands_lose_nothing_of_their_output(said: Said) -> None:
    """Output that comes with the answer's head, and output of what has already ended."""
    for number in range(50):
        assert said.run("echo", str(number)).exit_code == 0
        assert said.output == f"{number}\n".encode()


def test_twenty_megabytes_of_bytes_arrive_as_they_were_sent(said: Said) -> None:
    """On each of the two streams, with every byte there is."""
    script = r"""
        $| = 1; select STDERR; $| = 1;
        my $block = pack("C*", 0 .. 255) x 256;
        for (1 .. 160) { print STDOUT $block; print STDERR $block; }
    """
    assert said.run("perl", "-e", script, timeout_s=60).exit_code == 0
    assert len(said.output) == 20 * MEGABYTE
    counts = {said.output.count(bytes([value])) for value in (0, 10, 255)}
    assert counts == {20 * MEGABYTE // 256}


def test_output_is_passed_on_while_the_command_runs(engine: DockerEngine, container: str) -> None:
    """So that a person can follow it."""
    first, began = Event(), time.monotonic()
    at: list[float] = []

    def takes(data: bytes) -> None:
        at.append(time.monotonic() - began)
        first.set()

    engine.run(container, Command(argv=("sh", "-c", "echo a; sleep 1.5; echo b"), output=takes), Event())
    assert first.is_set()
    assert at[-1] - at[0] > 1


def test_environment_user_and_folder_are_the_commands_own(said: Said) -> None:
    """Over those of the container."""
    said.sh('echo "$A"; id -u; pwd', env={"A": "b c\n'"}, user="65534", workdir="/usr/lib")
    assert said.output == b"b c\n'\n65534\n/usr/lib\n"


def test_the_environment_is_on_no_command_line(engine: DockerEngine, said: Said, docker_api: docker.APIClient) -> None:
    """Neither in the container nor on the host, nor in what the engine says of the container."""
    secret = "sk-test-on-no-command-line"
    said.sh("tr '\\0' ' ' < /proc/1/cmdline; cat /proc/*/cmdline | tr '\\0' ' '; ps ax || true", env={"KEY": secret})
    assert secret.encode() not in said.output
    assert secret not in str(docker_api.inspect_container(said.container))


@pytest.mark.parametrize("user", ["nosuchuser", "65534:nosuchgroup"])
def test_a_user_that_does_not_exist_is_refused_and_named(said: Said, user: str) -> None:
    """Nothing has run."""
    with pytest.raises(RefusedError, match="nosuch"):
        said.run("true", user=user)


def test_a_folder_that_does_not_exist_is_refused_and_named(said: Said) -> None:
    """A file in its place is, too."""
    said.sh("echo > /a-file")
    with pytest.raises(RefusedError, match="/a-file"):
        said.run("true", workdir="/a-file/inside")


def test_a_program_that_does_not_exist_is_a_status(said: Said) -> None:
    """127, and the shell's words in the output."""
    assert said.run("nosuchprogram").exit_code == 127
    assert b"nosuchprogram" in said.output


def test_a_command_that_kills_itself_is_a_status(said: Said) -> None:
    """128 and the signal's number."""
    assert said.sh("kill -9 $$").exit_code == 137


def test_input_reaches_the_command_and_ends(said: Said) -> None:
    """Every byte, then the end of the file."""
    text = bytes(range(256)) * 512
    assert said.sh("sha256sum", stdin=text).exit_code == 0
    import hashlib

    assert said.output.split()[0].decode() == hashlib.sha256(text).hexdigest()


def test_without_input_the_command_reads_an_end_at_once(said: Said) -> None:
    """It does not wait for a person."""
    assert said.sh("cat; echo over", timeout_s=20).timed_out is False
    assert said.output == b"over\n"


def test_input_that_is_not_read_does_not_keep_the_command(said: Said) -> None:
    """128 KiB are more than a pipe holds."""
    ended = said.sh("echo hello", stdin=b"x" * (128 << 10), timeout_s=30)
    assert (ended.exit_code, ended.timed_out, said.output) == (0, False, b"hello\n")


def test_a_warning_of_the_shell_does_not_hide_the_process(engine: DockerEngine, said: Said) -> None:
    """What is printed before the process id is output; the limit is still enforced."""
    ended = said.sh("echo working; sleep 60", env={"LD_PRELOAD": "/no/such.so"}, timeout_s=1, stop_grace_s=0.2)
    assert ended.timed_out
    assert b"/no/such.so" in said.output
    assert b"working" in said.output
    said.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert b"sleep 60" not in said.output


def test_a_background_process_that_holds_the_output_does_not_hold_the_command(said: Said) -> None:
    """Silent or not; it lives on, since it may be a service."""
    for background in ("sleep 50", "sh -c 'while :; do echo noise; sleep 0.05; done'"):
        began = time.monotonic()
        ended = said.sh(f"setsid {background} & echo first; exit 3", timeout_s=30)
        assert (ended.exit_code, ended.timed_out) == (3, False)
        assert time.monotonic() - began < 5
        assert said.output.startswith((b"first\n", b"noise\n"))
    said.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert b"sleep 50" in said.output
    assert b"noise" in said.output


def test_the_limit_is_kept_to(said: Said) -> None:
    """From the start of the command, without the time that stopping it takes."""
    ended = said.sh("echo begun; exec sleep 60", timeout_s=1.5)
    assert ended.timed_out
    assert 1.4 < ended.duration_s < 3
    assert ended.exit_code == 143
    assert said.output == b"begun\n"


def test_a_limit_that_is_over_before_the_command_got_going_is_enforced(said: Said) -> None:
    """However slow the engine is to start it."""
    assert said.sh("exec sleep 61", timeout_s=0.001).timed_out
    said.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert b"sleep 61" not in said.output


def test_what_ignores_the_signal_is_killed_after_its_grace(said: Said) -> None:
    """And has had that long to end by itself."""
    script = "trap 'echo asked' TERM; while :; do sleep 0.05; done"
    began = time.monotonic()
    ended = said.sh(script, timeout_s=1, stop_grace_s=1.5)
    assert (ended.exit_code, ended.timed_out) == (137, True)
    assert time.monotonic() - began > 2.5
    assert b"asked" in said.output


def test_another_signal_may_ask_for_the_end(said: Said) -> None:
    """Some harnesses save their session on INT."""
    ended = said.sh("trap 'echo saved; exit 9' INT; while :; do sleep 0.05; done", timeout_s=1, stop_signal="INT")
    assert (ended.exit_code, said.output) == (9, b"saved\n")


def test_a_cancelled_command_is_given_up_at_once(engine: DockerEngine, said: Said) -> None:
    """The container goes with it, so nothing is stopped in it."""
    cancel = Event()
    threading.Timer(0.5, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        said.sh("sleep 5", cancel=cancel)
    assert time.monotonic() - began < 2


def test_cancelling_is_heard_while_a_command_is_being_stopped(said: Said) -> None:
    """A long grace is no reason to keep a person waiting."""
    cancel = Event()
    threading.Timer(2.5, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        said.sh("trap '' TERM; sleep 30 & wait", timeout_s=0.5, stop_grace_s=30, cancel=cancel)
    assert time.monotonic() - began < 6


def test_a_container_that_is_removed_under_a_command_ends_it(engine: DockerEngine, fresh: str) -> None:
    """As killed, or as gone: the engine may have forgotten the command already."""
    threading.Timer(0.7, engine.remove, [fresh]).start()
    with contextlib.suppress(GoneError):
        assert engine.run(fresh, Command(argv=("sleep", "60")), Event()).exit_code in (137, None)
    with pytest.raises(GoneError):
        engine.run(fresh, Command(argv=("true",)), Event())


def test_a_container_that_ends_under_a_command_ends_it(engine: DockerEngine, fresh: str) -> None:
    """Killed with everything in it."""
    ended = Said(engine, fresh).sh("echo last words; kill -TERM 1; sleep 60", timeout_s=30)
    assert ended.exit_code in (137, None)
    assert not ended.timed_out


def test_stopping_in_a_container_that_is_gone_is_no_failure_of_the_engine(engine: DockerEngine, fresh: str) -> None:
    """Its processes went with it."""
    threading.Timer(1.0, engine.remove, [fresh]).start()
    with pytest.raises(GoneError):
        Said(engine, fresh).sh("sleep 60", timeout_s=0.9)


def test_many_commands_run_at_once(engine: DockerEngine, container: str) -> None:
    """Each with its own output."""

    def one(number: int) -> bytes:
        pieces: list[bytes] = []
        command = Command(argv=("sh", "-c", f"sleep 0.2; echo {number}"), output=pieces.append)
        engine.run(container, command, Event())
        return b"".join(pieces)

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(one, range(24))) == [f"{number}\n".encode() for number in range(24)]


def test_the_processes_of_a_container_are_counted_from_outside(engine: DockerEngine, said: Said) -> None:
    """Its own tools are not asked."""
    before = engine.processes(said.container)
    said.sh("setsid sleep 40 > /dev/null 2>&1 &")
    assert len(engine.processes(said.container) - before) == 1
