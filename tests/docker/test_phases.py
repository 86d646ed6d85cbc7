"""What agent and tests find in their container, and what of theirs is kept."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import docker
import pytest

from hbench.container.engine import ImageFacts
from hbench.trial.bench import Prepared
from hbench.trial.output import OutputFile
from tests.docker.lab import PASSES, Lab, Ran, together

pytestmark = pytest.mark.docker

SECRET = "sk-test-handed-over-by-the-api"
LOOK = "ls -A /tests /solution 2>&1; true"

TRIALS: Mapping[str, Mapping[str, Any]] = {
    "users": {
        "agent": "id -un; touch /tmp/mine; echo > /logs/agent/session; cat $HBENCH_INSTRUCTION",
        "tests": f"id -u; stat -c %U /tmp/mine; {PASSES}",
        "config": '[agent]\nuser = "nobody"\n[verifier]\nuser = 33\n',
    },
    "workdir": {"agent": "pwd", "tests": f"pwd; {PASSES}", "config": 'workdir = "/srv/made for it"\n'},
    "variables": {
        "agent": "env",
        "tests": f"env; {PASSES}",
        "config": "env = { SHARED = '${SECRET}', PLAIN = 'a b', FALLBACK = '${UNSET:-default}' }\n"
        "[agent]\nenv = { FOR_AGENT = '${SECRET}' }\n[verifier]\nenv = { FOR_TESTS = '${SECRET}' }\n",
        "passed_env": {"SECRET": SECRET},
    },
    "solution": {"files": {"solution/solve.sh": "true\n"}, "agent": LOOK},
    "sees all": {
        "files": {"solution/solve.sh": "echo solved\r\n", "solution/data/ä.txt": "ö"},
        "agent": "cat /solution/solve.sh | od -c; cat /solution/data/*; ls /tests",
        "adapter": "sees_solution = true\nsees_tests = true\n",
    },
    "Windows lines": {"tests": PASSES.replace("\n", "\r\n").encode() + b"if true; then\r\n  echo fine\r\nfi\r\n"},
    "late shebang": {"tests": f"\n# The tests.\n#!/usr/bin/env python3\n{PASSES}"},
    "odd names": {
        "tests": f"ls -A /tests; cat '/tests/größe 日本/.v1.2 final'; {PASSES}",
        "files": {"tests/größe 日本/.v1.2 final": "found\n", "tests/-rf": "", "tests/a'b\"$c": ""},
    },
    "on stdin": {"agent": "cat", "adapter": 'instruction = "stdin"\n', "files": {"instruction.md": "ä\n$HOME\n'\n"}},
    "as an argument": {
        "adapter": 'instruction = "arg"\ncommand = ["sh", "/hbench/harness/run.sh", "-p", "{instruction}"]\n',
        "agent": 'echo "$#"; printf "%s" "$2"',
        "files": {"instruction.md": "ä $HOME `id` 'x' \\n\n- y\n"},
    },
    "long argument": {
        "adapter": 'instruction = "arg"\ncommand = ["sh", "/hbench/harness/run.sh", "{instruction}"]\n',
        "files": {"instruction.md": "x" * (128 * 1024)},
    },
    "nearly as long an argument": {
        "adapter": 'instruction = "arg"\ncommand = ["sh", "/hbench/harness/run.sh", "{instruction}"]\n',
        "agent": 'echo "${#1}"',
        "files": {"instruction.md": "x" * (128 * 1024 - 1)},
    },
    "harness files": {"agent": ". /hbench/harness/lib/more.sh", "harness_files": {"lib/more.sh": "echo more\n"}},
    "deadline": {"agent": "echo $HBENCH_TIMEOUT_SEC $HBENCH_DEADLINE $(date +%s)", "limit_s": 17},
    "artifacts": {
        "agent": (
            "mkdir -p /out/sub; echo 1 > /out/sub/a.txt; echo 2 > /out/b.log; echo 3 > /logs/artifacts/c\n"
            "ln -s /etc/passwd /out/leak; ln -s /etc/passwd /leak; mkfifo /out/pipe; echo 4 > '/out/ü b'\n"
            "echo hi > /logs/agent/session.jsonl; echo fake > /logs/agent/stdout.txt; echo printed"
        ),
        "tests": f"echo changed > /out/sub/a.txt; {PASSES}",
    },
    "holds the output": {"agent": "setsid sleep 40 & echo working"},
    "binary": {"agent": "head -c 3000000 /dev/zero; printf '\\377\\376\\n'; head -c 3000000 /dev/zero >&2"},
    "start-up files": {
        "agent": "echo 'echo READ' | tee /root/.bashrc /root/.bash_profile /etc/profile /etc/bash.bashrc > /dev/null",
        "tests": f"echo tests; {PASSES}",
    },
    "earlier tests": {
        "agent": "mkdir -p /tests; echo cheat > /tests/conftest.py; ln -s /etc /solution",
        "tests": f"ls /tests; {PASSES}",
    },
    "occupied by a link": {
        "agent": "mkdir /elsewhere; ln -s /elsewhere /tests; ln -s /elsewhere /logs/verifier",
        "tests": f"ls -A /elsewhere; {PASSES}",
    },
}
ARTIFACTS = 'artifacts = ["/out", "/leak", "/nothing", { source = "/out/b.log", destination = "logs/b" }]\n'


@pytest.fixture(scope="module")
def trial(lab: Lab) -> Iterator[Callable[[str], Ran]]:
    """Each of them, run once."""
    task = 'version = "1.0"\n' + ARTIFACTS + '[environment]\ndocker_image = "debian:bookworm-slim"\n'
    trials = {name: dict(fields) for name, fields in TRIALS.items()}
    trials["artifacts"]["files"] = {"task.toml": task}
    yield from together(lab, trials)


def agent_said(ran: Ran) -> str:
    return ran.text("agent/stdout.txt")


def said_by_tests(ran: Ran) -> str:
    return ran.text("verifier/test-stdout.txt")


def test_agent_and_tests_run_as_the_users_that_the_task_names(trial: Callable[[str], Ran]) -> None:
    """By name or by number; each can write where its logs go, and the agent can read the instruction."""
    ran = trial("users")
    assert ran.ending == (None, 1.0), ran.message
    assert agent_said(ran) == "nobody\nWrite `hello` to `/greeting.txt`.\n"
    assert said_by_tests(ran) == "33\nnobody\n"
    assert ran.file("agent/session").is_file()


def test_both_run_in_the_tasks_folder(trial: Callable[[str], Ran]) -> None:
    """It is made if the image has none."""
    ran = trial("workdir")
    assert agent_said(ran) == said_by_tests(ran) == "/srv/made for it\n"


def test_without_one_both_run_in_the_images_folder_as_the_images_user(
    lab: Lab, image: Callable[..., ImageFacts]
) -> None:
    """Its WORKDIR and USER; root removes hidden paths and copies files in all the same."""
    made = image("FROM debian:bookworm-slim\nCOPY x /tests/x\nWORKDIR /home\nUSER www-data\n", {"x": ""})
    ran = lab.run(agent="pwd; id -un", tests=f"pwd; id -un; {PASSES}", image=Prepared(image=made, source="build"))
    assert ran.ending == (None, 1.0), ran.message
    assert agent_said(ran) == said_by_tests(ran) == "/home\nwww-data\n"


def test_variables_reach_the_phases_they_are_for(trial: Callable[[str], Ran]) -> None:
    """Those of the environment both; a template without a value takes its default."""
    ran = trial("variables")
    agent, tests = set(agent_said(ran).splitlines()), set(said_by_tests(ran).splitlines())
    both = {f"SHARED={SECRET}", "PLAIN=a b", "FALLBACK=default"}
    assert both <= agent
    assert both <= tests
    assert f"FOR_AGENT={SECRET}" in agent - tests
    assert f"FOR_TESTS={SECRET}" in tests - agent
    assert not any(line.startswith("HBENCH_") for line in tests)


def test_a_passed_value_stands_in_no_container_and_on_no_command_line(lab: Lab, docker_api: docker.APIClient) -> None:
    """Whoever may ask the engine may not thereby read it."""
    seen: list[str] = []

    def look(container: str) -> None:
        facts = docker_api.inspect_container(container)
        seen.append(str([facts, docker_api.top(container), [docker_api.exec_inspect(e) for e in facts["ExecIDs"]]]))

    ran = lab.run(
        agent='sleep 2; echo "$KEY $OTHER"',
        config="env = { KEY = '${SECRET}' }\n[agent]\nenv = { OTHER = '${SECRET}' }\n",
        passed_env={"SECRET": SECRET},
        meanwhile=look,
    )
    assert agent_said(ran) == f"{SECRET} {SECRET}\n"
    assert "/hbench/harness/run.sh" in seen[0]
    assert SECRET not in seen[0]


def test_the_agent_sees_neither_tests_nor_solution(trial: Callable[[str], Ran]) -> None:
    """They are not in the container yet."""
    said = agent_said(trial("solution"))
    assert said.count("No such file") == 2


def test_hidden_paths_of_the_image_are_removed_before_the_agent(lab: Lab, image: Callable[..., ImageFacts]) -> None:
    """Each kept an answer that the image's author had forgotten there; its removal is recorded."""
    files = {"test.sh": "old", "solve.sh": "old"}
    made = image("FROM debian:bookworm-slim\nCOPY test.sh /tests/\nCOPY solve.sh /solution/deep/\n", files)
    ran = lab.run(agent=LOOK, image=Prepared(image=made, source="build"))
    assert ran.ending == (None, 1.0)
    assert agent_said(ran).count("No such file") == 2
    assert "hidden_paths_removed" in ran.flags


def test_a_harness_that_may_see_them_does(trial: Callable[[str], Ran]) -> None:
    """The oracle; scripts come with Unix line ends."""
    said = agent_said(trial("sees all"))
    assert "\\r" not in said
    assert said.endswith("ötest.sh\n")


@pytest.mark.parametrize("name", ["Windows lines", "late shebang", "odd names", "start-up files", "earlier tests"])
def test_tests_run_whatever_their_files_look_like(trial: Callable[[str], Ran], name: str) -> None:
    """And whatever the agent left in their way."""
    assert trial(name).ending == (None, 1.0), trial(name).message


def test_test_files_arrive_under_their_names(trial: Callable[[str], Ran]) -> None:
    """Blanks, quotes, dashes, dots and other scripts."""
    said = said_by_tests(trial("odd names")).splitlines()
    assert said[-1] == "found"
    assert set(said[:-1]) == {"-rf", "a'b\"$c", "größe 日本", "test.sh"}


def test_what_the_agent_left_where_the_tests_go_is_removed(trial: Callable[[str], Ran]) -> None:
    """Files and links; nothing is written through a link."""
    assert said_by_tests(trial("earlier tests")) == "test.sh\n"
    assert "tests_path_occupied" in trial("earlier tests").flags
    assert said_by_tests(trial("occupied by a link")) == ""
    assert trial("occupied by a link").ending == (None, 1.0)


def test_no_start_up_file_of_the_agent_is_read(trial: Callable[[str], Ran], lab: Lab) -> None:
    """Neither root's nor the system's, nor one that the image's environment names."""
    assert said_by_tests(trial("start-up files")) == "tests\n"


def test_the_images_bash_env_is_not_read(lab: Lab, image: Callable[..., ImageFacts]) -> None:
    """An agent could have written that file."""
    made = image("FROM debian:bookworm-slim\nENV BASH_ENV=/env.sh ENV=/env.sh\n")
    agent = "echo 'echo 1 > /logs/verifier/reward.txt; exit' > /env.sh"
    ran = lab.run(agent=agent, tests="echo 0 > /logs/verifier/reward.txt", image=Prepared(image=made, source="build"))
    assert ran.ending == (None, 0.0)


def test_the_instruction_reaches_the_harness_unchanged(trial: Callable[[str], Ran]) -> None:
    """On its standard input, or as one argument that no shell has touched."""
    assert agent_said(trial("on stdin")) == "ä\n$HOME\n'\n"
    assert agent_said(trial("as an argument")) == "2\nä $HOME `id` 'x' \\n\n- y\n"


def test_an_argument_has_a_longest_length(trial: Callable[[str], Ran]) -> None:
    """Linux takes no longer one; the error comes before the agent."""
    ran = trial("long argument")
    assert ran.ending == ("AgentSetupError", None)
    assert "128 KiB" in ran.message
    assert not ran.record.agent_begun


def test_the_longest_argument_that_is_allowed_arrives(trial: Callable[[str], Ran]) -> None:
    """So that the limit is the true one."""
    ran = trial("nearly as long an argument")
    assert (ran.ending, agent_said(ran)) == ((None, 1.0), f"{128 * 1024 - 1}\n"), ran.message


def test_the_files_of_a_harness_come_with_it(trial: Callable[[str], Ran]) -> None:
    """At /hbench/harness, folders and all."""
    assert agent_said(trial("harness files")) == "more\n"


def test_the_agent_is_told_its_limit_and_its_deadline(trial: Callable[[str], Ran]) -> None:
    """Seconds, and seconds since 1970."""
    limit, deadline, now = map(float, agent_said(trial("deadline")).split())
    assert limit == 17
    assert abs(deadline - now - limit) <= 3


def test_artifacts_are_kept_as_the_agent_left_them(trial: Callable[[str], Ran]) -> None:
    """Before the tests could change them; declared ones under their own path or their destination."""
    ran = trial("artifacts")
    kept = {path.relative_to(ran.folder / "artifacts").as_posix() for path in ran.file("artifacts").rglob("*")}
    assert kept == {"c", "out", "out/sub", "out/sub/a.txt", "out/b.log", "out/ü b", "logs", "logs/b"}
    assert ran.text("artifacts/out/sub/a.txt") == "1\n"
    assert ran.text("agent/session.jsonl") == "hi\n"


def test_a_link_never_brings_a_file_of_the_host_or_the_container(trial: Callable[[str], Ran]) -> None:
    """What was left out, and what was not there, are flags."""
    ran = trial("artifacts")
    assert {"artifact_missing", "files_not_collected"} <= ran.flags
    assert not any(path.is_symlink() for path in ran.folder.rglob("*"))
    assert not any("root:" in path.read_text(errors="replace") for path in ran.folder.rglob("*") if path.is_file())


def test_the_recorded_output_is_not_the_agents_to_replace(trial: Callable[[str], Ran]) -> None:
    """A file of the same name in its logs is left out."""
    assert agent_said(trial("artifacts")) == "printed\n"


def test_output_is_kept_byte_for_byte(trial: Callable[[str], Ran]) -> None:
    """Whatever it is."""
    data = trial("binary").file("agent/stdout.txt").read_bytes()
    assert len(data) == 6_000_003
    assert data.count(b"\xff\xfe\n") == 1


def test_output_past_the_cap_is_dropped_and_flagged(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial goes on; the tail in a message is the true one."""
    defaults = OutputFile.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "cap", 1000)
    ran = lab.run(agent="yes agent | head -c 5000", tests="yes tests | head -c 5000; echo the end")
    assert {"agent_output_truncated", "verifier_output_truncated"} <= ran.flags
    assert len(agent_said(ran)) == len(said_by_tests(ran)) == 1000
    assert ran.message.endswith("the end")


def test_output_is_on_disk_while_the_agent_runs(lab: Lab) -> None:
    """A person can follow it."""
    seen: list[str] = []

    def follow(_: str) -> None:
        seen.extend(path.read_text(errors="replace") for path in lab.folder.glob("*/out/agent/stdout.txt"))

    ran = lab.run(agent="echo followed; sleep 3; echo over", meanwhile=follow)
    assert "followed\n" in seen
    assert agent_said(ran) == "followed\nover\n"


def test_a_process_that_holds_the_output_does_not_hold_the_trial(trial: Callable[[str], Ran]) -> None:
    """The agent's time ends with the agent."""
    ran = trial("holds the output")
    assert ran.ending == (None, 1.0)
    assert ran.record.agent_execution is not None
    assert ran.record.agent_execution.duration_s < 4
    assert agent_said(ran) == "working\n"


def test_the_phases_of_a_trial_are_timed_apart(lab: Lab) -> None:
    """Agent time excludes setup and tests (R25)."""
    record = lab.run(agent="sleep 1.2", tests=f"sleep 0.6; {PASSES}").record
    phases = [record.environment_setup, record.agent_setup, record.agent_execution, record.collect, record.verifier]
    seconds = [phase.duration_s for phase in phases if phase is not None]
    assert len(seconds) == 5
    assert 1.2 <= seconds[2] < 3
    assert 0.6 <= seconds[4] < 3
    assert [phase.started_at for phase in phases if phase] == sorted(phase.started_at for phase in phases if phase)


def test_every_limit_of_the_trial_is_the_containers(lab: Lab) -> None:
    """Memory, processes, processors, as the container sees them."""
    look = (
        "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null\n"
        "cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; true"
    )
    assert agent_said(lab.run(agent=look, memory_mb=100, pids=50)).split() == [str(100 << 20), "50"]
