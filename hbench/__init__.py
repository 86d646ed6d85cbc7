"""Measure coding-agent harnesses: the same tasks, model and limits; only the harness varies."""
