"""Assigns a machine's GPUs to programs that a script runs concurrently."""
import os
import subprocess
import threading

# GPU needs of a program. A GPU time-slices between processes. A synchronous launch takes 60 us for
# a process alone on the GPU, and 1 to 2 ms beside five launching processes or one long kernel.
# Programs with hundreds of thousands of launches therefore get a GPU of their own. Programs that
# compute mainly on cores share one.
ALL, OWN, SHARED = "all GPUs", "a GPU of its own", "a GPU with others"
NEEDS = [OWN, SHARED, ALL]  # start order: a program that needs all GPUs runs alone, so it is last


class Gpus:
    """Current assignment of programs to GPUs.

    At most about `sharing` programs share GPUs in total, regardless of the number of GPUs, because
    they also compete for the same cores.
    """

    def __init__(self, names, sharing):
        self.seats = -(-sharing // len(names))
        self.names, self.taken, self.changed = names, [0] * len(names), threading.Condition()

    def free(self, needs):
        empty = [gpu for gpu, taken in enumerate(self.taken) if taken == 0]
        if needs == ALL:
            return empty if len(empty) == len(self.taken) else []
        if needs == OWN:
            return empty[:1]
        return sorted(
            (gpu for gpu, taken in enumerate(self.taken) if taken < self.seats),
            key=self.taken.__getitem__,
        )[:1]

    def take(self, needs):
        with self.changed:
            chosen = self.changed.wait_for(lambda: self.free(needs))
            for gpu in chosen:
                self.taken[gpu] += 1 if needs == SHARED else self.seats
            return chosen

    def give(self, needs, chosen):
        with self.changed:
            for gpu in chosen:
                self.taken[gpu] -= 1 if needs == SHARED else self.seats
            self.changed.notify_all()

    def environment(self, chosen):
        """Returns the variables that select the GPUs; empty on a machine with one GPU."""
        return (
            {"CUDA_VISIBLE_DEVICES": ",".join(self.names[gpu] for gpu in chosen)}
            if len(self.names) > 1
            else {}
        )


def found_gpus():
    """Returns name and driver of the first GPU, and the CUDA identifiers of all GPUs of that name.

    The list is empty if there is no GPU.
    """
    try:
        text = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version,uuid", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    found = [line.split(", ") for line in text.splitlines() if line.count(", ") == 2]
    if not found:
        return "", "", []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return *found[0][:2], (
        [uuid for name, _, uuid in found if name == found[0][0]]
        if visible is None
        else visible.split(",")
    )
