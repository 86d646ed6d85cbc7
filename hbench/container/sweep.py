"""Removing what killed runs left on the engine, by label."""

from concurrent.futures import ThreadPoolExecutor

from hbench.container.engine import Engine
from hbench.container.owner import BATCH_LABEL, MACHINE_LABEL, is_alive, machine_mark

_AT_ONCE = 4


def leftovers(engine: Engine, *, everything: bool = False) -> dict[str, str]:
    """Containers of batches that no process on this machine runs any more: id -> batch id.

    Args:
        everything: Also those of running batches and of other machines that share the engine.
    """
    found = engine.labelled(BATCH_LABEL)
    own = machine_mark()
    dead: dict[str, bool] = {}
    result = {}
    for container, labels in found.items():
        batch = labels[BATCH_LABEL]
        if batch not in dead:
            dead[batch] = labels.get(MACHINE_LABEL) == own and not is_alive(batch)
        if everything or dead[batch]:
            result[container] = batch
    return result


def sweep(engine: Engine, *, everything: bool = False) -> int:
    """Remove them; returns how many."""
    return remove_all(engine, list(leftovers(engine, everything=everything)))


def remove_all(engine: Engine, containers: list[str]) -> int:
    """Remove containers, several at a time."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(engine.remove, containers))
    return len(containers)
