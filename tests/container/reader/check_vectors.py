"""Runs the second reader over tests/vectors/container: its results must equal the vectors'."""

import hashlib
import io
import json
import pathlib
import sys
import zlib

import warpseal_reader

path = pathlib.Path(__file__).resolve().parents[2] / "vectors/container/envelope.json"
wrong = 0
rows = json.loads(path.read_text())["vectors"]
for row in rows:
    out = io.BytesIO()
    key = bytes.fromhex(row["key"]) if "key" in row else None
    passphrase = row["passphrase"].encode() if "passphrase" in row else None
    try:
        warpseal_reader.open_file(io.BytesIO(zlib.decompress(bytes.fromhex(row["file"]))), out, key, passphrase, row.get("identity"))
        result = "ok"
    except warpseal_reader.Refused as refused:
        result = refused.kind
    text = out.getvalue()
    right = result == row["result"] and (result != "ok" or hashlib.sha512(text).hexdigest() == row["textSha512"])
    if not right:
        wrong += 1
        print(f"{row['name']}: {result}, expected {row['result']}")
print(f"{len(rows) - wrong} of {len(rows)} vectors as expected")
sys.exit(wrong != 0)
