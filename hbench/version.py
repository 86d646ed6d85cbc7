"""What this hbench is called, and which of its results compare."""

VERSION = "0.3.0"

RESULTS_EPOCH = 2
"""A new epoch begins when running or grading changes; results of different epochs share no board."""
