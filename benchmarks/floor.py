"""The floor: what one trial costs at the very least, straight by docker-py, with no hbench code.

Per trial: create, start, two execs, two copies in, one out, rm.
"""

import argparse
import io
import json
import resource
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import docker


def archive(folder: Path | None) -> bytes:
    """The folder as a tar stream; without one, two small files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        if folder is not None:
            tar.add(folder, arcname=".")
        else:
            for name in ("first", "second"):
                info = tarfile.TarInfo(name)
                info.size = 512
                tar.addfile(info, io.BytesIO(b"x" * 512))
    return buffer.getvalue()


def execute(api: Any, container: str, argv: list[str]) -> None:
    """Run the command in the container to its end; it must succeed."""
    exec_id = api.exec_create(container, argv)["Id"]
    api.exec_start(exec_id)
    status = api.exec_inspect(exec_id)["ExitCode"]
    if status != 0:
        raise SystemExit(f"{argv} ended with exit status {status}")


def trial(api: Any, image: str, solution: bytes, tests: bytes) -> float:
    """Everything that a trial can't do without; returns its wall time in seconds."""
    started = time.perf_counter()
    limits = api.create_host_config(init=True, nano_cpus=10**9, mem_limit="512m", pids_limit=512)
    container = api.create_container(image, ["sh", "-c", "sleep infinity"], host_config=limits)["Id"]
    try:
        api.start(container)
        api.put_archive(container, "/opt", solution)
        execute(api, container, ["true"])
        api.put_archive(container, "/srv", tests)
        execute(api, container, ["true"])
        stream, _ = api.get_archive(container, "/etc/hostname")
        for _ in stream:
            pass
    finally:
        api.remove_container(container, force=True, v=True)
    return time.perf_counter() - started


def measure(image: str, *, trials: int, concurrency: int, task: Path | None) -> dict[str, Any]:
    """Run that many trials; wall seconds of each, and this process's own CPU seconds a trial."""
    solution = archive(task and task / "solution")
    tests = archive(task and task / "tests")
    client = docker.from_env(max_pool_size=concurrency)
    client.ping()
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        walls = list(pool.map(lambda _: trial(client.api, image, solution, tests), range(trials)))
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    client.close()
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "trials": trials,
        "wall_s": wall_s,
        "wall_s_per_trial": sum(walls) / trials,
        "own_cpu_s_per_trial": cpu_s / trials,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", help="an image that is on the engine, with sh, sleep and true in it")
    parser.add_argument("--task", type=Path, help="a task folder whose solution/ and tests/ are copied in")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = measure(args.image, trials=args.trials, concurrency=args.concurrency, task=args.task)
    if args.json:
        print(json.dumps(result, indent=2))
        return
    print(f"floor, {args.trials} trials, {args.concurrency} at a time")
    print(f"  wall a trial     {result['wall_s_per_trial']:.3f} s")
    print(f"  own CPU a trial  {result['own_cpu_s_per_trial'] * 1000:.1f} ms")


if __name__ == "__main__":
    main()
