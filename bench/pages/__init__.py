"""Reads, records and draws the results of Warpseal's benchmarks."""
