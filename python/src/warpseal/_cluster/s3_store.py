"""Objects of S3 and of stores like it, by s3fs."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Sequence
from typing import Any

from warpseal._cluster.errors import SourceChangedError, StoreError
from warpseal._cluster.stores import Identity

__all__ = ["S3Store"]

CONFIG = {
    # Some stores send the checksum of a whole object with a range of it.
    "request_checksum_calculation": "when_required",
    "response_checksum_validation": "when_required",
    # Workers repeat requests themselves.
    "retries": {"max_attempts": 0},
    "connect_timeout": 20,
    "read_timeout": 60,
}


def code_of(error: BaseException) -> str:
    """Returns the code of S3 behind an exception of s3fs, or ""."""
    response = getattr(error.__cause__, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def _is_refused_condition(error: BaseException) -> bool:
    return code_of(error) in ("PreconditionFailed", "412", "ConditionalRequestConflict")


def _target_exists(path: str) -> FileExistsError:
    return FileExistsError(f"'s3://{path}' exists: remove it, or give overwrite=True")


class S3Store:
    """Objects are created with If-None-Match, and read with If-Match, where the store has these."""

    max_parts = 10_000
    least_part_bytes = 5 << 20

    def __init__(self, options: dict[str, Any]) -> None:
        try:
            import s3fs
        except ImportError as missing:
            raise ImportError(
                "s3:// needs s3fs: pip install './python[ray]' in a checkout of Warpseal"
            ) from missing
        config = {**CONFIG, **options.get("config_kwargs", {})}
        self._fs = s3fs.S3FileSystem(
            **{**options, "config_kwargs": config, "skip_instance_cache": True}
        )

    def _at(self, path: str) -> dict[str, str]:
        bucket, _, key = path.partition("/")
        if not bucket or not key:
            raise ValueError(f"'s3://{path}' names no object: give s3://BUCKET/KEY")
        return {"Bucket": bucket, "Key": key, **self._fs.req_kw}

    def _call(self, method: str, **arguments: Any) -> Any:
        return self._fs.call_s3(method, **arguments)

    def identify(self, path: str) -> Identity:
        head = self._call("head_object", **self._at(path))
        version = head.get("VersionId")
        tag = head["ETag"] if version in (None, "null") else f"{head['ETag']} {version}"
        return Identity(int(head["ContentLength"]), tag)

    def settle(self, path: str, identity: Identity) -> None:
        """An ETag is that of the content."""

    def read(self, path: str, identity: Identity, offset: int, count: int) -> bytes:
        if count == 0:
            return b""
        etag, _, version = identity.tag.partition(" ")
        pinned = {"IfMatch": etag, **({"VersionId": version} if version else {})}
        wanted = f"bytes={offset}-{offset + count - 1}"
        data, answer = self._get({**self._at(path), **pinned, "Range": wanted}, path)
        if answer.get("ETag") != etag:
            raise SourceChangedError(f"'s3://{path}' was replaced: its ETag is another one")
        # Some stores answer a range with status 200. Without the header it may be another one.
        found = answer.get("ContentRange", "")
        whole = offset == 0 and count == identity.size
        place = f"bytes {offset}-{offset + count - 1}/"
        if found not in (f"{place}{identity.size}", f"{place}*") and (found or not whole):
            raise StoreError(f"'s3://{path}': the range {wanted} was answered by {found!r}")
        if len(data) != count:
            raise StoreError(f"'s3://{path}': {len(data)} bytes came, of {count} at byte {offset}")
        return data

    def _get(self, arguments: dict[str, Any], path: str) -> tuple[bytes, dict[str, Any]]:
        from fsspec.asyn import sync

        async def get() -> tuple[bytes, dict[str, Any]]:
            answer = await self._fs._call_s3("get_object", **arguments)
            async with answer["Body"] as body:
                return await body.read(), answer

        try:
            found: tuple[bytes, dict[str, Any]] = sync(self._fs.loop, get)
        except OSError as error:
            if _is_refused_condition(error):
                text = f"'s3://{path}' was replaced: its ETag is another one"
                raise SourceChangedError(text) from error
            raise
        return found

    def _exists(self, path: str) -> bool:
        try:
            self.identify(path)
        except FileNotFoundError:
            return False
        return True

    def _create(self, method: str, path: str, *, overwrite: bool, **arguments: Any) -> str:
        """Runs a call that makes an object appear, and refuses to replace one."""
        if not overwrite and self._exists(path):
            raise _target_exists(path)
        condition = {} if overwrite else {"IfNoneMatch": "*"}
        try:
            answer = self._call(method, **self._at(path), **arguments, **condition)
        except OSError as error:
            if _is_refused_condition(error):
                raise _target_exists(path) from error
            if not condition or error.errno != errno.ENOSYS:
                raise
            # A store without conditional writes: what was there was looked for above.
            answer = self._call(method, **self._at(path), **arguments)
        return str(answer["ETag"])

    def create(self, path: str, data: bytes, *, overwrite: bool, private: bool) -> str:
        return self._create("put_object", path, overwrite=overwrite, Body=data)

    def begin(self, path: str, size: int, *, private: bool) -> str:
        return str(self._call("create_multipart_upload", **self._at(path))["UploadId"])

    def put(self, path: str, upload: str, number: int, offset: int, data: bytes) -> str:
        answer = self._call(
            "upload_part", **self._at(path), UploadId=upload, PartNumber=number + 1, Body=data
        )
        return str(answer["ETag"])

    def complete(self, path: str, upload: str, tags: Sequence[str], *, overwrite: bool) -> str:
        parts = [{"PartNumber": i + 1, "ETag": tag} for i, tag in enumerate(tags)]
        return self._create(
            "complete_multipart_upload",
            path,
            overwrite=overwrite,
            UploadId=upload,
            MultipartUpload={"Parts": parts},
        )

    def abort(self, path: str, upload: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # it is gone already
            self._call("abort_multipart_upload", **self._at(path), UploadId=upload)
