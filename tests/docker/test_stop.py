"""What the agent's limit stops and what it leaves: late work must not score, services are graded as they run."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.docker.lab import GRADES, Lab, Ran, together

pytestmark = pytest.mark.docker

LIMIT_S = 2
LATE = "sleep 6; echo hello > /greeting.txt"
"""Would pass, had it not been stopped."""
LATER_GRADES = f"sleep 5\n{GRADES}"
"""Looks when the late work would be done."""

LATE_WORK: Mapping[str, str] = {
    "itself": LATE,
    "a child": f"sh -c '{LATE}'; true",
    "a background process": f"({LATE}) & sleep 60",
    "a process group of its own": f"set -m; ({LATE}) & sleep 60",
    "a session of its own, still a child": f"setsid sh -c '{LATE}' & sleep 60",
    "a grandchild in a session of its own": f"(setsid sh -c '{LATE}'; true) & sleep 60",
    "an orphan in the agent's session": f"sh -c '({LATE}) &'; sleep 60",
    "deaf to TERM": f"trap '' TERM HUP INT; ({LATE}) & {LATE}",
    "asleep when stopped": f"({LATE}) & kill -STOP $!; (sleep 5; kill -CONT $!) & sleep 60",
    "under a name that looks like a process table": "perl /hbench/harness/late.pl disguised & exec sleep 60",
    "always another process": "perl /hbench/harness/late.pl hopping & exec sleep 60",
    "as many processes as there may be": "perl /hbench/harness/late.pl forking & exec sleep 60",
}

SERVE_SCRIPT = """
use strict; use warnings; use Socket;
my ($kind) = @ARGV;
$SIG{PIPE} = 'IGNORE';
if ($kind eq 'udp') {
    socket(my $s, PF_INET, SOCK_DGRAM, 0) or die; bind($s, sockaddr_in(8000, INADDR_ANY)) or die "bind: $!";
    while (1) { my $from = recv($s, my $got, 100, 0); send($s, "hello", 0, $from) if $from }
}
my $s;
if ($kind eq 'unix') { socket($s, PF_UNIX, SOCK_STREAM, 0) or die; bind($s, sockaddr_un("/run/s")) or die "bind: $!" }
elsif ($kind eq 'tcp6') { socket($s, PF_INET6, SOCK_STREAM, 0) or die;
    bind($s, pack_sockaddr_in6(8000, Socket::inet_pton(AF_INET6, "::"))) or die "bind: $!" }
else { socket($s, PF_INET, SOCK_STREAM, 0) or die; bind($s, sockaddr_in(8000, INADDR_ANY)) or die "bind: $!" }
listen($s, 5) or die;
if ($kind eq 'workers') { for (1 .. 2) { last if !fork } }
while (1) { accept(my $c, $s) or next; syswrite $c, "hello"; close $c }
"""

ASK = """
cat > /ask.pl <<'END'
use strict; use warnings; use Socket;
my ($kind) = @ARGV;
alarm 3;
my $s;
if ($kind eq 'udp') {
    socket($s, PF_INET, SOCK_DGRAM, 0) or die;
    send($s, "?", 0, sockaddr_in(8000, INADDR_LOOPBACK)) or die "send: $!";
    recv($s, my $got, 100, 0); print $got; exit;
}
if ($kind eq 'unix') { socket($s, PF_UNIX, SOCK_STREAM, 0) or die; connect($s, sockaddr_un("/run/s")) or die "$!" }
else { socket($s, PF_INET, SOCK_STREAM, 0) or die; connect($s, sockaddr_in(8000, INADDR_LOOPBACK)) or die "$!" }
sysread $s, my $got, 100; print $got;
END
perl /ask.pl KIND > /greeting.txt
"""

SERVICES: Mapping[str, tuple[str, str]] = {
    "TCP": ("tcp", "perl /hbench/harness/serve.pl tcp & sleep 60"),
    "TCP over version 6": ("tcp6", "perl /hbench/harness/serve.pl tcp6 & sleep 60"),
    "UDP": ("udp", "perl /hbench/harness/serve.pl udp & sleep 60"),
    "a unix socket": ("unix", "perl /hbench/harness/serve.pl unix & sleep 60"),
    "one with workers": ("tcp", "perl /hbench/harness/serve.pl workers & sleep 60"),
    "one with somebody who restarts it": (
        "tcp",
        "sh -c 'while :; do perl /hbench/harness/serve.pl tcp; sleep 0.1; done' & sleep 60",
    ),
    "one that detached itself": ("tcp", "sh -c 'setsid perl /hbench/harness/serve.pl tcp < /dev/null &'; sleep 60"),
    "one of an agent that ends by itself": ("tcp", "perl /hbench/harness/serve.pl tcp & sleep 0.7"),
}


OTHERS: Mapping[str, tuple[str, str]] = {
    "late work beside a service": (
        f"({LATE}) & perl /hbench/harness/serve.pl tcp & sleep 60",
        f"sleep 5; [ ! -e /greeting.txt ] || exit 1\n{ASK.replace('KIND', 'tcp')}{GRADES}",
    ),
    "an agent that listens": ("exec perl /hbench/harness/serve.pl tcp", ASK.replace("KIND", "tcp") + GRADES),
    "in time": ("sleep 1; echo hello > /greeting.txt", GRADES),
    "done, but not ended": ("echo hello > /greeting.txt; sleep 60", GRADES),
}

LATE_SCRIPT = """
use strict; use warnings;
my ($how) = @ARGV;
my $end = time + 6;
$0 = ") R 1 1 1 (" if $how eq 'disguised';
while (time < $end) {
    select undef, undef, undef, 0.01;
    if ($how eq 'hopping') { exit if fork }
    if ($how eq 'forking') { fork }
}
open my $file, '>', '/greeting.txt'; print $file "hello"; close $file;
"""


@pytest.fixture(scope="module")
def trial(lab: Lab) -> Iterator[Callable[[str], Ran]]:
    """Each of them, most to their limit."""
    common = {
        "limit_s": LIMIT_S,
        "adapter": "stop_grace_s = 0.3\n",
        "harness_files": {"serve.pl": SERVE_SCRIPT, "late.pl": LATE_SCRIPT},
    }
    late = {name: {**common, "agent": agent, "tests": LATER_GRADES} for name, agent in LATE_WORK.items()}
    services = {
        name: {**common, "agent": agent, "tests": ASK.replace("KIND", kind) + GRADES}
        for name, (kind, agent) in SERVICES.items()
    }
    others = {name: {**common, "agent": agent, "tests": tests} for name, (agent, tests) in OTHERS.items()}
    yield from together(lab, late | services | others, at_once=8)


@pytest.mark.parametrize("name", LATE_WORK)
def test_work_after_the_limit_does_not_score(trial: Callable[[str], Ran], name: str) -> None:
    """Whoever of the agent's processes would do it."""
    ran = trial(name)
    assert ran.ending == ("AgentTimeoutError", 0.0), ran.message
    assert "processes_left" not in ran.flags


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_stays_and_is_graded_as_it_runs(trial: Callable[[str], Ran], name: str) -> None:
    """With the processes above and below it; that something still runs is a flag."""
    ran = trial(name)
    expected = None if "ends by itself" in name else "AgentTimeoutError"
    assert ran.ending == (expected, 1.0), ran.text("verifier/test-stdout.txt")
    assert "processes_left" in ran.flags


def test_what_works_beside_a_service_is_stopped(trial: Callable[[str], Ran]) -> None:
    """The service alone is left."""
    ran = trial("late work beside a service")
    assert ran.ending == ("AgentTimeoutError", 1.0)


def test_an_agent_that_is_a_service_itself_is_stopped(trial: Callable[[str], Ran]) -> None:
    """Its own process always goes."""
    ran = trial("an agent that listens")
    assert ran.ending == ("AgentTimeoutError", 0.0)
    assert "processes_left" not in ran.flags


def test_the_same_work_before_the_limit_scores(trial: Callable[[str], Ran]) -> None:
    """So it is the limit that the others ran into."""
    assert trial("in time").ending == (None, 1.0)


def test_what_was_done_before_the_limit_scores(trial: Callable[[str], Ran]) -> None:
    """A late pass is a pass."""
    ran = trial("done, but not ended")
    assert ran.ending == ("AgentTimeoutError", 1.0)
    assert ran.record.stop_reason == "timeout"
    assert "2 s" in ran.message
