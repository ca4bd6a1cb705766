"""What a run does with each object: seal, open, verify, rotate."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from warpseal import _core
from warpseal._cluster.errors import SourceChangedError
from warpseal._cluster.manifest import Manifest
from warpseal._cluster.run import CLEAN_UP, Call, Item, Run
from warpseal._cluster.stores import Identity
from warpseal._cluster.worker import Done, Job, Large, Proof, pack, unpack

__all__ = ["OpenRun", "RotateRun", "SealRun", "VerifyRun", "items_to_do"]

MOST_PARTS = 10_000  # of S3


def part_count(text_bytes: int, part_bytes: int) -> int:
    return min(MOST_PARTS, max(1, -(-text_bytes // part_bytes)))


@dataclass
class Upload:
    """A target that is written in parts. packed: the plan; empty when opening."""

    identity: Identity
    upload: str = ""
    packed: bytes = b""
    tags: dict[int, str] = field(default_factory=dict)
    # Fingerprints of the parts that were sealed: another text must not be sealed in their place.
    claims: dict[int, bytes] = field(default_factory=dict)
    parts: list[tuple[int, int]] = field(default_factory=list)  # offset and bytes of the text
    digests: dict[int, bytes] = field(default_factory=dict)
    file_bytes: int = 0
    proof: Proof | None = None
    tag: str = ""
    completed: bool = False
    unchecked: int = 0

    @staticmethod
    def from_row(row: dict[str, Any]) -> Upload:
        identity = Identity(int(row["size"]), str(row["tag"]))
        packed = base64.b64decode(row.get("plan", ""))
        return Upload(identity, str(row["upload"]), packed)

    def row(self, item: Item) -> dict[str, Any]:
        return {
            "event": "upload",
            "source": item.job.source,
            "target": item.job.target,
            "size": self.identity.size,
            "tag": self.identity.tag,
            "upload": self.upload,
            "plan": base64.b64encode(self.packed).decode(),
        }


@dataclass
class _Known:
    """What the manifest says of a source."""

    target: str = ""
    done: bool = False
    ours: bool = False
    upload: Upload | None = None


def _known(lines: list[dict[str, Any]]) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    for row in lines:
        about = known.setdefault(str(row.get("source")), _Known())
        event = row.get("event")
        if event == "begin":
            about.target, about.ours = str(row["target"]), True
        elif event == "upload":
            about.upload = Upload.from_row(row)
        elif event == "claim" and about.upload is not None:
            about.upload.claims[int(row["part"])] = bytes.fromhex(row["fingerprint"])
        elif event == "part" and about.upload is not None:
            about.upload.tags[int(row["part"])] = str(row["tag"])
        elif event in ("failed", "restart"):
            about.upload = None
        elif event == "done":
            about.target, about.done, about.upload = str(row.get("target", "")), True, None
    return known


def items_to_do(manifest: Manifest, jobs: list[Job]) -> Iterator[Item]:
    """Yields the objects that the manifest does not have as done.

    Raises ValueError if it has another target for one of them.
    """
    known = _known(manifest.lines)
    for job in jobs:
        about = known.get(job.source, _Known())
        if about.target and about.target != job.target:
            raise ValueError(
                f"manifest: it has the target {about.target!r} for {job.source!r}, "
                f"and not {job.target!r}; name another manifest"
            )
        if not about.done:
            yield Item(replace(job, ours=about.ours), state=about.upload)


class _PartsRun(Run):
    """Objects of which large ones are written in parts."""

    private: ClassVar[bool]

    def begin_upload(self, item: Item, file_bytes: int) -> list[Call]:
        job = item.job
        return [Call(item, "begin", (job.target, file_bytes, job.overwrite, self.private))]

    def restart(self, item: Item) -> list[Call]:
        """Drops what an earlier run began."""
        stale: Upload = item.state
        item.state = None
        self.manifest.write({"event": "restart", "source": item.job.source})
        first = Call(item, self.first_method, (item.job,))
        return [Call(item, CLEAN_UP, (item.job.target, stale.upload)), first]

    def give_up(self, item: Item) -> list[Call]:
        state: Upload | None = item.state
        if state is None or not state.upload or state.completed:
            return []
        return [Call(item, CLEAN_UP, (item.job.target, state.upload))]

    def complete(self, item: Item) -> list[Call]:
        state: Upload = item.state
        tags = [state.tags[i] for i in range(len(state.parts))]
        job = item.job
        arguments = (job.target, state.upload, tags, job.overwrite, state.proof)
        return [Call(item, "complete", arguments)]

    def add_tag(self, item: Item, part: int, tag: str) -> list[Call]:
        state: Upload = item.state
        state.tags[part] = tag
        self.counts.text_bytes += state.parts[part][1]
        self.manifest.write(
            {"event": "part", "source": item.job.source, "part": part, "tag": tag}
        )
        return self.complete(item) if len(state.tags) == len(state.parts) else []

    def finish_parts(self, item: Item) -> list[Call]:
        state: Upload = item.state
        text_bytes = sum(count for _, count in state.parts)
        more = {"parts": len(state.parts)}
        return self.finish(item, Done(text_bytes, state.file_bytes, state.tag), **more)

    def checked(self, item: Item) -> list[Call]:
        state: Upload = item.state
        state.unchecked -= 1
        return self.finish_parts(item) if state.unchecked == 0 else []

    def finish_whole(self, item: Item, done: Done) -> list[Call]:
        self.counts.text_bytes += done.text_bytes
        return self.finish(item, done)


class SealRun(_PartsRun):
    action = "seal"
    first_method = "seal"
    private = False

    def __init__(
        self, manifest: Manifest, key: bytes, suite: str | None, engine: _core.Engine | None
    ) -> None:
        super().__init__(manifest)
        self._key, self._suite, self._engine = key, suite, engine

    def begin(self, item: Item) -> list[Call]:
        if item.state is None:
            return super().begin(item)
        return [Call(item, "look", (item.job.source,))]

    def after(self, call: Call, value: Any) -> list[Call]:
        item, state = call.item, call.item.state
        match call.method:
            case "seal" if isinstance(value, Done):
                return self.finish_whole(item, value)
            case "seal":
                return self._plan(item, value)
            case "look":
                return self._resume(item, value)
            case "begin":
                state.upload = value
                self.manifest.write(state.row(item))
                return self._missing(item)
            case "seal_part":
                return self._claim(call, value)
            case "put_part":
                return self.add_tag(item, call.part, value)
            case "complete":
                state.tag, state.completed = value, True
                if not item.job.check:
                    return self.finish_parts(item)
                arguments = (item.job.target, state.file_bytes, state.proof)
                return [Call(item, "identify_written", arguments)]
            case "identify_written":
                state.unchecked = len(state.parts)
                return [
                    Call(item, "verify_part", (item.job.target, value, offset, count))
                    for offset, count in state.parts
                ]
        return self.checked(item)

    def lost(self, call: Call) -> list[Call]:
        if call.method != "put_part":
            return super().lost(call)
        # The sealed part went with its worker.
        again = self._seal_part(call.item, call.part)
        again.losses = call.losses
        return [again]

    def _plan(self, item: Item, large: Large) -> list[Call]:
        identity, job = large.identity, item.job
        count = part_count(identity.size, job.part_bytes)
        plan = _core.Plan.create(
            identity.size, count, identity.pin(), [("key", self._key)], self._suite, self._engine
        )
        item.state = Upload(identity, packed=pack(plan))
        self._lay_out(item.state, plan)
        return self.begin_upload(item, item.state.file_bytes)

    def _lay_out(self, state: Upload, plan: _core.Plan) -> None:
        shards = [plan.shard(i) for i in range(plan.shard_count)]
        state.parts = [(offset, count) for offset, count, _, _ in shards]
        state.file_bytes = shards[-1][2] + shards[-1][3]
        front = plan.front
        state.proof = Proof(len(front), hashlib.sha256(front).digest())

    def _resume(self, item: Item, identity: Identity) -> list[Call]:
        state: Upload = item.state
        if identity != state.identity:
            return self.restart(item)
        plan = unpack(state.packed, self._key, self._engine)
        if plan.pin != identity.pin() or plan.text_bytes != identity.size:
            raise ValueError(f"manifest: its plan is not of {item.job.source!r}")
        self._lay_out(state, plan)
        self.counts.text_bytes += sum(state.parts[i][1] for i in state.tags)
        return self._missing(item)

    def _missing(self, item: Item) -> list[Call]:
        state: Upload = item.state
        missing = [i for i in range(len(state.parts)) if i not in state.tags]
        return [self._seal_part(item, i) for i in missing] or self.complete(item)

    def _seal_part(self, item: Item, part: int) -> Call:
        state: Upload = item.state
        arguments = (state.packed, item.job.source, state.identity, part)
        return Call(item, "seal_part", arguments, part)

    def _claim(self, call: Call, fingerprint: bytes) -> list[Call]:
        """Lets a sealed part leave its worker, unless another text was sealed in its place."""
        item, state, part = call.item, call.item.state, call.part
        before = state.claims.setdefault(part, fingerprint)
        if before != fingerprint:
            self.fail(
                item,
                SourceChangedError(
                    f"{item.job.source!r}: the store returned other bytes than before, under the "
                    "same ETag or times"
                ),
            )
            return []
        self.manifest.write(
            {
                "event": "claim",
                "source": item.job.source,
                "part": part,
                "fingerprint": fingerprint.hex(),
            }
        )
        arguments = (state.packed, item.job.target, state.upload, part)
        return [Call(item, "put_part", arguments, part, worker=call.worker)]


class OpenRun(_PartsRun):
    action = "open"
    first_method = "open"
    private = True

    def begin(self, item: Item) -> list[Call]:
        # A text is opened from its start: only uploads are left of an earlier run.
        return super().begin(item) if item.state is None else self.restart(item)

    def after(self, call: Call, value: Any) -> list[Call]:
        item, state = call.item, call.item.state
        match call.method:
            case "open" if isinstance(value, Done):
                return self.finish_whole(item, value)
            case "open":
                item.state = self._lay_out(value, item.job.part_bytes)
                return self.begin_upload(item, value.text_bytes)
            case "begin":
                state.upload = value
                self.manifest.write(state.row(item))
                return [
                    Call(item, "open_part", self._part(item, i), i)
                    for i in range(len(state.parts))
                ]
            case "open_part":
                tag, state.digests[call.part] = value
                if call.part == 0:
                    state.proof = Proof(state.parts[0][1], state.digests[0])
                return self.add_tag(item, call.part, tag)
            case "complete":
                state.tag, state.completed = value, True
                if not item.job.check:
                    return self.finish_parts(item)
                state.unchecked = len(state.parts)
                return [
                    Call(item, "check_bytes", (item.job.target, *part, state.digests[i]))
                    for i, part in enumerate(state.parts)
                ]
        return self.checked(item)

    def _lay_out(self, large: Large, part_bytes: int) -> Upload:
        count = part_count(large.text_bytes, part_bytes)
        step = -(-large.text_bytes // count)
        offsets = range(0, large.text_bytes, step)
        parts = [(offset, min(step, large.text_bytes - offset)) for offset in offsets]
        return Upload(large.identity, parts=parts, file_bytes=large.file_bytes)

    def _part(self, item: Item, part: int) -> tuple[Any, ...]:
        state: Upload = item.state
        job = item.job
        return (job.source, state.identity, job.target, state.upload, part, *state.parts[part])


class VerifyRun(Run):
    action = "verify"
    first_method = "verify"

    def after(self, call: Call, value: Any) -> list[Call]:
        item = call.item
        if isinstance(value, Done):
            self.counts.text_bytes += value.text_bytes
            return self.finish(item, value)
        if isinstance(value, Large):
            count = part_count(value.text_bytes, item.job.part_bytes)
            step = -(-value.text_bytes // count)
            item.state = [value, len(range(0, value.text_bytes, step))]
            return [
                Call(
                    item,
                    "verify_part",
                    (
                        item.job.source,
                        value.identity,
                        offset,
                        min(step, value.text_bytes - offset),
                    ),
                )
                for offset in range(0, value.text_bytes, step)
            ]
        large: Large = item.state[0]
        self.counts.text_bytes += call.arguments[3]
        item.state[1] -= 1
        if item.state[1] > 0:
            return []
        return self.finish(item, Done(large.text_bytes, large.file_bytes, large.identity.tag))


class RotateRun(Run):
    """Key slots of files, in place."""

    action = "rotate"
    first_method = "rotate"

    def after(self, call: Call, value: Any) -> list[Call]:
        self.counts.text_bytes += value.text_bytes
        return self.finish(call.item, value)
