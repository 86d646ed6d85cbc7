"""`manifest.json`, the seal: the sha256 and size of every other file of a finished job, and one digest over all."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from hbench.results.files import dump_json
from hbench.results.moment import Moment
from hbench.results.tree import MANIFEST, Entry

MANIFEST_FORMAT: Final = "hbench/manifest@1"

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SealedFile(_Part):
    sha256: Sha256
    size: int


class Manifest(_Part):
    """`manifest.json` of a job. `files` is sorted by path; `root` is the name of exactly this sealed job."""

    format: Literal["hbench/manifest@1"]
    job_id: str
    sealed_at: Moment
    files: dict[str, SealedFile]
    root: Sha256

    def as_bytes(self) -> bytes:
        """The file's only spelling: what `dump_json` writes, put together in a tenth of its time."""
        head = dump_json(self.model_dump(mode="json", exclude={"files", "root"}), where=MANIFEST).decode()
        files = ",\n".join(
            f'    {json.dumps(path, ensure_ascii=False)}: {{\n      "sha256": "{file.sha256}",\n'
            f'      "size": {file.size}\n    }}'
            for path, file in self.files.items()
        )
        return f'{head[:-3]},\n  "files": {{\n{files}\n  }},\n  "root": "{self.root}"\n}}\n'.encode()


def manifest_of(files: Mapping[str, Entry], *, job_id: str, sealed_at: str) -> Manifest:
    """The seal over `files`, its own entry left out."""
    ordered = {path: files[path] for path in sorted(files) if path != MANIFEST}
    return Manifest(
        format=MANIFEST_FORMAT,
        job_id=job_id,
        sealed_at=sealed_at,
        files={path: SealedFile(sha256=entry.sha256, size=entry.size) for path, entry in ordered.items()},
        root=root_digest(ordered, job_id=job_id, sealed_at=sealed_at),
    )


def root_digest(files: Mapping[str, Entry | SealedFile], *, job_id: str, sealed_at: str) -> str:
    """sha256 over a line `format job_id sealed_at`, then a line `sha256 size path` for each file, sorted by path."""
    lines = [f"{MANIFEST_FORMAT} {job_id} {sealed_at}"]
    lines += [f"{files[path].sha256} {files[path].size} {path}" for path in sorted(files)]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
