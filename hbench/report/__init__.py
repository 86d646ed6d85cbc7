"""From the records of a job to what a person reads: figures, tables, JSON. Needs no Docker."""
