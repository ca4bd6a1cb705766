"""Runs over many objects, or over parts of a huge one, on many workers (docs/shards.md)."""
