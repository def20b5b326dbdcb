"""Run over many inputs: find them, read them, rewrite or list them, and write the results safely.

In: names of files and folders, and options. Out: outputs that are complete or unchanged, and the state to resume from.
Imports nothing of the command line.
"""
