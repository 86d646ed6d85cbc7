import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.container import context
from hbench.container.ca import CaBundle, container_files
from hbench.errors import TaskError


def _bundle(pem: bytes = b"PEM\n") -> CaBundle:
    return CaBundle(pem=pem, extra=(b"EXTRA\n",), sha256="ab", found="host")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a small task."""
    result = tmp_path / "environment"
    (result / "src").mkdir(parents=True)
    (result / "Dockerfile").write_text("FROM debian:bookworm-slim\nCOPY . /app\n")
    (result / "src" / "main.py").write_text("print()\n")
    (result / "data.csv").write_text("a,b\n")
    (result / "link").symlink_to("src/main.py")
    return result


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in context.entries(folder)]


def test_the_context_is_the_folder_sorted(folder: Path) -> None:
    """With its folders and links."""
    assert _names(folder) == ["Dockerfile", "data.csv", "link", "src", "src/main.py"]


def test_dockerignore_is_honoured(folder: Path) -> None:
    """And the files that the builder itself reads are always there."""
    (folder / ".dockerignore").write_text("# comment\n\n*\n!src\nDockerfile\n.dockerignore\n")
    assert _names(folder) == [".dockerignore", "Dockerfile", "src", "src/main.py"]


def test_a_dockerignore_with_windows_line_ends_and_a_byte_order_mark_is_read(folder: Path) -> None:
    """As Docker does."""
    (folder / ".dockerignore").write_bytes(b"\xef\xbb\xbf*.csv\r\nlink\r\n")
    assert _names(folder) == [".dockerignore", "Dockerfile", "src", "src/main.py"]


def test_a_link_is_sent_as_a_link_wherever_it_leads(folder: Path) -> None:
    """In the image it means a place in the image; on the host nothing is read through it."""
    (folder / "passwd").symlink_to("/etc/passwd")
    found = {entry.name: entry for entry in context.entries(folder)}
    assert (found["passwd"].link, found["passwd"].content) == ("/etc/passwd", None)


def test_a_linked_folder_is_not_walked(folder: Path) -> None:
    """Not even one that leads to the folder itself."""
    (folder / "etc").symlink_to("/etc")
    (folder / "loop").symlink_to(".")
    assert [name for name in _names(folder) if name.startswith(("etc", "loop"))] == ["etc", "loop"]


@pytest.mark.parametrize("name", ["Dockerfile", ".dockerignore"])
def test_what_is_read_on_the_host_is_not_read_through_a_link_out(folder: Path, name: str) -> None:
    """Otherwise a task could show any file of the host to the builder."""
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("/etc/passwd")
    with pytest.raises(TaskError, match="not a file of this folder") as caught:
        context.context_digest(folder, None)
    assert caught.value.where == str(folder / name)


def test_a_dockerfile_may_be_a_link_within_the_folder(folder: Path) -> None:
    """As some repositories have it."""
    (folder / "Dockerfile").rename(folder / "src" / "Dockerfile.dev")
    (folder / "Dockerfile").symlink_to("src/Dockerfile.dev")
    assert context.instructions(folder, None).startswith(b"FROM debian")


def test_a_folder_without_dockerfile_is_an_error(folder: Path) -> None:
    """Which names the folder."""
    (folder / "Dockerfile").unlink()
    with pytest.raises(TaskError, match="has no Dockerfile"):
        context.context_digest(folder, None)


def test_a_named_pipe_is_an_error(folder: Path) -> None:
    """Reading one would wait for ever."""
    os.mkfifo(folder / "pipe")
    with pytest.raises(TaskError, match="neither a file"):
        context.context_digest(folder, None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_an_error(folder: Path) -> None:
    """Which names the file."""
    (folder / "data.csv").chmod(0)
    with pytest.raises(TaskError, match="cannot be read") as caught:
        context.context_digest(folder, None)
    assert caught.value.where == str(folder / "data.csv")


def test_the_image_is_named_after_the_content(folder: Path) -> None:
    """The first 24 digits of the digest."""
    assert context.image_tag(folder, None) == f"hbench-env:{context.context_digest(folder, None)[:24]}"
    assert len(context.context_digest(folder, None)) == 64


def _relink(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


def _unlink(path: Path, content: str) -> None:
    path.unlink()
    path.write_text(content)


_CHANGES: list[Callable[[Path], object]] = [
    lambda folder: (folder / "data.csv").write_text("a;b\n"),
    lambda folder: (folder / "data.csv").rename(folder / "datb.csv"),
    lambda folder: (folder / "data.csv").chmod(0o755),
    lambda folder: (folder / "src").chmod(0o700),
    lambda folder: (folder / "empty").mkdir(),
    lambda folder: (folder / "Dockerfile").write_text("FROM debian:bookworm-slim\n"),
    lambda folder: (folder / ".dockerignore").write_text("data.csv\n"),
    lambda folder: _relink(folder / "link", "data.csv"),
    lambda folder: _unlink(folder / "link", "src/main.py"),
]


@pytest.mark.parametrize("change", _CHANGES)
def test_whatever_changes_the_image_changes_its_name(folder: Path, change: Callable[[Path], object]) -> None:
    """Names, kinds, modes, bytes."""
    before = context.context_digest(folder, None)
    change(folder)
    assert context.context_digest(folder, None) != before


def test_what_does_not_reach_the_image_does_not_change_its_name(folder: Path) -> None:
    """Times, and what .dockerignore leaves out."""
    (folder / ".dockerignore").write_text("notes\n")
    before = context.context_digest(folder, None)
    os.utime(folder / "data.csv", (1, 1))
    (folder / "notes").write_text("x")
    assert context.context_digest(folder, None) == before


def test_the_certificates_are_part_of_the_name(folder: Path) -> None:
    """An image that trusts other authorities is another image."""
    digests = {context.context_digest(folder, one) for one in (None, _bundle(), _bundle(b"OTHER\n"))}
    assert len(digests) == 3


def test_with_certificates_only_the_instructions_change(folder: Path) -> None:
    """They come from an image of their own, so that `COPY . .` does not put them into the task's folder."""
    bundle = _bundle()
    assert f"COPY --from={context.ca_image_tag(bundle)} / /" in context.instructions(folder, bundle).decode()
    assert context.instructions(folder, None) == (folder / "Dockerfile").read_bytes()
    assert _names(folder) == ["Dockerfile", "data.csv", "link", "src", "src/main.py"]


def test_the_image_of_the_certificates_is_named_after_all_its_files() -> None:
    """So that another way to hand them in is another image too."""
    one, other = _bundle(), CaBundle(pem=b"PEM\n", extra=(), sha256="ab", found="host")
    assert context.ca_image_tag(one) != context.ca_image_tag(other)
    assert context.ca_image_tag(one) == context.ca_image_tag(_bundle())
    assert len(container_files(one)) == len(container_files(other)) + 1


def test_bytes_of_a_dockerfile_that_are_no_text_survive(folder: Path) -> None:
    """A comment in an old encoding is no reason to refuse a task."""
    (folder / "Dockerfile").write_bytes(b"FROM a\n# caf\xe9\n")
    assert context.instructions(folder, _bundle()).endswith(b"\n# caf\xe9\n")


def test_the_packed_context_is_the_same_wherever_it_is_made(folder: Path) -> None:
    """Byte for byte; the engine's cache goes by it."""
    with context.packed(folder, b"FROM a\n") as first:
        os.utime(folder / "data.csv", (1, 1))
        with context.packed(folder, b"FROM a\n") as second:
            data = first.read()
            assert data == second.read()
        first.seek(0)
        with tarfile.open(fileobj=first) as opened:
            assert opened.getnames() == _names(folder)
            dockerfile = opened.extractfile("Dockerfile")
            assert dockerfile is not None
            assert dockerfile.read() == b"FROM a\n"


def test_a_laid_out_context_is_the_folder_again(folder: Path, tmp_path: Path) -> None:
    """Modes and links kept, all with one time, in folders that nobody may write to as well."""
    (folder / "src" / "main.py").chmod(0o640)
    (folder / "src").chmod(0o555)
    target = tmp_path / "copy"
    target.mkdir()
    context.lay_out(context.entries(folder), target)
    (folder / "src").chmod(0o755)
    modes = {name: stat.S_IMODE((target / name).lstat().st_mode) for name in ("src", "src/main.py")}
    times = {(target / name).lstat().st_mtime for name in _names(target)}
    (target / "src").chmod(0o755)
    assert modes == {"src": 0o555, "src/main.py": 0o640}
    assert len(times) == 1
    assert (target / "link").readlink() == Path("src/main.py")
    assert (target / "data.csv").read_text() == "a,b\n"
