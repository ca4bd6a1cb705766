"""The GPUs of a machine, and who has them: for scripts that run programs side by side."""
import os
import subprocess
import threading

# What a program may need. A GPU gives processes turns: what is launched and waited for takes 60 us if its process is alone there, and a
# millisecond or two if five others launch or one is long at it. So what makes hundreds of thousands of launches has a GPU of its own, and
# what computes more on the cores has not.
ALL, OWN, SHARED = "all GPUs", "a GPU of its own", "a GPU with others"
NEEDS = [OWN, SHARED, ALL]  # who waits for all begins last, as nobody else runs meanwhile


class Gpus:
    """Who is on which. Those that share are no more on all GPUs together than they would be on one, `sharing`: the cores are the same."""

    def __init__(self, names, sharing):
        self.seats = -(-sharing // len(names))
        self.names, self.taken, self.changed = names, [0] * len(names), threading.Condition()

    def free(self, needs):
        empty = [gpu for gpu, taken in enumerate(self.taken) if taken == 0]
        if needs == ALL:
            return empty if len(empty) == len(self.taken) else []
        if needs == OWN:
            return empty[:1]
        return sorted((gpu for gpu, taken in enumerate(self.taken) if taken < self.seats), key=self.taken.__getitem__)[:1]

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
        """Of one GPU alone what the machine shows is left as it is."""
        return {"CUDA_VISIBLE_DEVICES": ",".join(self.names[gpu] for gpu in chosen)} if len(self.names) > 1 else {}


def found_gpus():
    """Name and driver of the first GPU, and what the CUDA runtime calls it and those like it; no names if there is none."""
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,uuid", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    found = [line.split(", ") for line in text.splitlines() if line.count(", ") == 2]
    if not found:
        return "", "", []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return *found[0][:2], [uuid for name, _, uuid in found if name == found[0][0]] if visible is None else visible.split(",")
