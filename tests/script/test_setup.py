"""The scripts on machines of every kind, made of stand-ins for what the scripts call."""

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REAL_TOOLS = ["bash", "cat", "chmod", "cksum", "dirname", "env", "grep"]
REAL_TOOLS += ["head", "mkdir", "mktemp", "rm", "sleep", "tail", "tar", "true"]


@dataclass
class Machine:
    """A copy of the scripts, and a PATH with nothing but the tools that a test puts there."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def has(self, tool: str, body: str) -> None:
        """Put a stand-in on the PATH; it notes its call in `calls`, then does `body`."""
        path = self.folder / "bin" / tool
        path.write_text(f'#!/bin/sh\necho "{tool} $*" >>"{self.folder}/calls"\n{body}\n')
        path.chmod(0o755)

    def run(self, script: str) -> tuple[int, str]:
        """Exit status, and what the script said."""
        env = {"PATH": str(self.folder / "bin"), "TMPDIR": str(self.folder), **self.env}
        command = [self.folder / "script" / script]
        done = subprocess.run(command, env=env, check=False, capture_output=True, text=True, timeout=60)
        assert done.stdout == "", "steps are said on stderr"
        return done.returncode, done.stderr

    @property
    def calls(self) -> str:
        return (self.folder / "calls").read_text() if (self.folder / "calls").exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Linux, an ordinary user, nothing installed."""
    (tmp_path / "bin").mkdir()
    for tool in REAL_TOOLS:
        real = shutil.which(tool)
        assert real, f"the tests need {tool}"
        (tmp_path / "bin" / tool).symlink_to(real)
    shutil.copytree(ROOT / "script", tmp_path / "script")
    made = Machine(tmp_path)
    made.has("uname", "echo Linux")
    made.has("id", "case $1 in -u) echo 1000 ;; *) echo joe ;; esac")
    return made


def root(machine: Machine) -> None:
    machine.has("id", "echo 0")


def test_an_engine_that_answers_is_used_as_it_is(machine: Machine) -> None:
    """Nothing is installed or started."""
    machine.has("docker", "echo 28.0")
    machine.has("apt-get", "exit 1")
    assert machine.run("engine") == (0, "hbench: the Docker engine answers (version 28.0)\n")
    assert "apt-get" not in machine.calls


def test_on_macos_the_person_installs_docker(machine: Machine) -> None:
    """The scripts never try."""
    machine.has("uname", "echo Darwin")
    machine.has("apt-get", "exit 0")
    status, said = machine.run("engine")
    assert status == 1
    assert "Docker Desktop" in said
    assert "brew install colima docker && colima start" in said
    assert "apt-get" not in machine.calls


def test_an_engine_that_the_person_chose_is_not_replaced(machine: Machine) -> None:
    """DOCKER_HOST says where it must be; a second engine would not be asked for."""
    machine.has("docker", "exit 1")
    machine.env["DOCKER_HOST"] = "tcp://127.0.0.1:1"
    root(machine)
    status, said = machine.run("engine")
    assert status == 1
    assert "no Docker engine answers at DOCKER_HOST=tcp://127.0.0.1:1" in said


def test_without_docker_and_without_rights_the_command_to_run_is_named(machine: Machine) -> None:
    """Exactly as it can be pasted."""
    machine.has("apt-get", "exit 0")
    status, said = machine.run("engine")
    assert status == 1
    assert "Run: sudo apt-get install -y docker.io iptables\n" in said


def has_apt_with_docker(machine: Machine, docker: str) -> None:
    """`apt-get install docker.io` puts a `docker` that does what `docker` says on the PATH."""
    installed = machine.folder / "bin" / "docker"
    install = f"printf '#!/bin/sh\\n{docker}\\n' >{installed}; chmod +x {installed}"
    machine.has("apt-get", f'case "$*" in *docker.io*) {install} ;; esac')


def test_root_gets_docker_installed(machine: Machine) -> None:
    """On a machine with apt-get; the engine that Debian's package starts is used."""
    root(machine)
    has_apt_with_docker(machine, "echo 20.10")
    assert machine.run("engine")[0] == 0
    assert "install -y docker.io iptables" in machine.calls


def test_with_sudo_docker_is_installed_and_the_missing_right_is_named(machine: Machine) -> None:
    """Who may become root isn't put into a group unasked."""
    machine.has("sudo", 'shift; AS_ROOT=1 exec "$@"')
    has_apt_with_docker(machine, 'test -n "$AS_ROOT"')
    status, said = machine.run("engine")
    assert status == 1
    assert "install -y docker.io iptables" in machine.calls
    assert "Run: sudo usermod -aG docker joe\n" in said


def test_a_context_of_the_docker_command_is_followed(machine: Machine) -> None:
    """Docker Desktop and colima keep their socket elsewhere; programs that speak to the engine are told where."""
    machine.has(
        "docker", 'case $1 in context) echo unix:///home/joe/.colima/docker.sock ;; *) echo "$DOCKER_HOST" ;; esac'
    )
    assert "unix:///home/joe/.colima/docker.sock" in machine.run("engine")[1]


def test_a_base_image_that_is_there_is_left_alone(machine: Machine) -> None:
    """No pull: a run must not depend on the network."""
    machine.has("docker", "exit 0")
    assert machine.run("base-image") == (0, "hbench: the image debian:bookworm-slim is here\n")
    assert "pull" not in machine.calls


def test_a_base_image_is_pulled_where_that_works(machine: Machine) -> None:
    """The official image is the first choice."""
    machine.has("docker", "case $1 in image) exit 1 ;; esac")
    machine.has("debootstrap", "exit 1")
    assert machine.run("base-image")[0] == 0
    assert "docker pull debian:bookworm-slim" in machine.calls
    assert "debootstrap" not in machine.calls


def test_without_rights_the_base_image_is_not_made(machine: Machine) -> None:
    """Making one needs root: the command to run is named."""
    machine.has("docker", "exit 1")
    status, said = machine.run("base-image")
    assert status == 1
    assert "Run: sudo script/base-image\n" in said


def test_root_gets_a_base_image_made(machine: Machine) -> None:
    """debootstrap's folder becomes the image, and is removed."""
    root(machine)
    machine.has(
        "docker",
        "case $1 in image | pull) exit 1 ;; import) tar -t | grep -q etc/debian_version ;; context) exit 1 ;; esac",
    )
    machine.has("debootstrap", 'mkdir -p "$3/etc"; echo 12 >"$3/etc/debian_version"; echo "$3" >"$TMPDIR/made"')
    status, said = machine.run("base-image")
    assert status == 0, said
    assert 'docker import --change CMD ["bash"] - debian:bookworm-slim' in machine.calls
    assert not Path((machine.folder / "made").read_text().strip()).parent.exists()


def test_a_failed_debootstrap_leaves_nothing(machine: Machine) -> None:
    """Neither a folder nor half an image."""
    root(machine)
    machine.has("docker", "case $1 in image | pull | context) exit 1 ;; esac")
    machine.has("debootstrap", 'mkdir -p "$3/etc"; echo "$3" >"$TMPDIR/made"; echo "no such mirror"; exit 1')
    status, said = machine.run("base-image")
    assert status == 1
    assert "no such mirror" in said
    assert "import" not in machine.calls
    assert not Path((machine.folder / "made").read_text().strip()).parent.exists()


def test_without_a_new_enough_python_the_package_is_named(machine: Machine) -> None:
    """A Python that is too old counts as none."""
    machine.has("python3", "exit 1")
    for name in ("requirements-dev.lock", "pyproject.toml", "hbench/version.py"):
        (machine.folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, machine.folder / name)
    status, said = machine.run("venv")
    assert status == 1
    assert "sudo apt-get install -y python3 python3-venv" in said
    assert not (machine.folder / ".venv").exists()


@pytest.mark.slow
def test_a_fresh_clone_gets_a_working_hbench_once(tmp_path: Path) -> None:
    """The second call has nothing to do."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True, timeout=120)
    said = []
    for _ in range(2):
        done = subprocess.run([clone / "script" / "venv"], check=True, capture_output=True, text=True, timeout=900)
        said.append(done.stderr)
    assert "creating .venv" in said[0]
    assert said[1] == "hbench: .venv is up to date\n"
    shown = subprocess.run([clone / ".venv/bin/hbench", "--help"], check=True, capture_output=True, env={**os.environ})
    assert b"run" in shown.stdout
    assert not (clone / "hbench" / "_shipped").exists()
