"""Tasks that judge badly, each in one way, and a sound one: what `hbench validate` is for."""

from collections.abc import Mapping
from pathlib import Path

from tests.docker.lab import BASE, write

Texts = Mapping[str, str | None]

REWARD = "/logs/verifier/reward.txt"
OUT = "/app/out/customers.csv"
SORTED = f"mkdir -p /app/out && sort -u /app/customers.csv >{OUT}\n"
GRADED = f"if {{}}; then echo 1; else echo 0; fi >{REWARD}\n"

SOUND: Texts = {
    "instruction.md": f"Sort the lines of `/app/customers.csv`, each once, into `{OUT}`.\n",
    "task.toml": "[verifier]\ntimeout_sec = 30.0\n",
    "environment/Dockerfile": f"FROM {BASE}\nWORKDIR /app\nCOPY customers.csv /app/\n",
    "environment/customers.csv": "a,name\nd,Dora\nd,Dora\nc,Carl\nb,Berta\n",
    "solution/solve.sh": SORTED,
    "tests/test.sh": "sort -u /app/customers.csv >/tmp/wanted\n" + GRADED.format(f"cmp -s /tmp/wanted {OUT}"),
    "baselines/unsorted.sh": f"mkdir -p /app/out && uniq /app/customers.csv >{OUT}\n",
}
"""Files of a task that is admitted; the others differ from it in these."""

BAD: Mapping[str, Texts] = {
    # Looks only whether the file is there and has the right header: passes oracle and nop, and a copy of the input.
    "weak-verifier": {
        "tests/test.sh": GRADED.format(f'[ "$(head -n 1 {OUT})" = a,name ]'),
        "baselines/unsorted.sh": None,
    },
    # Ends at the first failing command, before it writes the 0.
    "buggy-set-e": {"tests/test.sh": f"set -e\nsort -u /app/customers.csv | cmp - {OUT}\necho 1 >{REWARD}\n"},
    "solution-fails": {"solution/solve.sh": "sort -u /app/customer.csv\n"},
    "solved-already": {
        "environment/Dockerfile": f"FROM {BASE}\nWORKDIR /app\nCOPY customers.csv /app/\nRUN {SORTED}",
    },
    "no-solution": {"solution/solve.sh": None},
    "own-shortcut": {
        "tests/test.sh": GRADED.format(f"[ $(wc -l <{OUT}) = 4 ]"),
    },
    "not-valid": {"task.toml": '[verifier]\ntimeout_sec = "long"\n'},
    # The instruction quotes what is to be found out.
    "literal": {
        "instruction.md": "Write the number of lines of `/app/customers.csv`, such as `5`, to `/app/count.txt`.\n",
        "solution/solve.sh": "wc -l </app/customers.csv >/app/count.txt\n",
        "tests/test.sh": GRADED.format('[ "$(cat /app/count.txt)" = "$(wc -l </app/customers.csv)" ]'),
        "baselines/unsorted.sh": None,
    },
    # The tests lie in the work folder, and the verifier runs that copy.
    "visible-tests": {
        "instruction.md": f"Sort the lines of `/app/customers.csv`, each once, into `{OUT}`, as the checker wants.\n",
        "environment/Dockerfile": f"FROM {BASE}\nWORKDIR /app\nCOPY . /app/\n",
        "environment/tests/test_sorted.sh": f"sort -u /app/customers.csv | cmp -s - {OUT} || exit 1\n",
        "tests/test.sh": GRADED.format("sh /app/tests/test_sorted.sh"),
    },
    # A later commit holds the answer. The first two lines are those of hbench's own tasks, so that layers are shared.
    "git-history": {
        "instruction.md": "Mend `/app/total.sh`: it must print the sum of its arguments.\n",
        "environment/Dockerfile": (
            f"FROM {BASE}\n"
            "RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*\n"
            "RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*\n"
            "WORKDIR /app\n"
            "COPY broken.sh mended.sh /tmp/\n"
            "RUN git init -q && git config user.name A && git config user.email a@example.org && "
            "cp /tmp/broken.sh total.sh && git add . && git commit -qm 'Add total' && git checkout -qb mended && "
            "cp /tmp/mended.sh total.sh && git commit -qam 'Mend total' && git checkout -q - && rm /tmp/*.sh\n"
        ),
        "environment/broken.sh": "echo $(($1))\n",
        "environment/mended.sh": "t=0; for n in $*; do t=$((t + n)); done; echo $t\n",
        "environment/customers.csv": None,
        "solution/solve.sh": "echo 't=0; for n; do t=$((t + n)); done; echo $t' >/app/total.sh\n",
        "tests/test.sh": GRADED.format('[ "$(sh /app/total.sh 1 2 39)" = 42 ]'),
        "baselines/unsorted.sh": None,
    },
}
"""Name -> what it has other than the sound task; None for a file that it lacks."""


def write_sound(folder: Path) -> Path:
    """The sound task; /tests is in its image, which costs a warning."""
    dockerfile = f"{SOUND['environment/Dockerfile']}RUN mkdir /tests && echo old >/tests/notes\n"
    return _write(folder, {"environment/Dockerfile": dockerfile})


def write_bad(folder: Path, name: str) -> Path:
    """The bad task of that name."""
    return _write(folder, BAD[name])


def _write(folder: Path, other: Texts) -> Path:
    return write(folder, {name: text for name, text in {**SOUND, **other}.items() if text is not None})
