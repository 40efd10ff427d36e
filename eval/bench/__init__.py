"""Benchmarks of speed, memory use and growth."""
