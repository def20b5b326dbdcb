"""Mirrors: a copy of a capture that works without a network.

In: captured documents with their URLs. Out: a folder or a ZIP with one file for each URL, in which links lead from file
to file, and a map (mirror.sqlite). It does not know the command line.
"""
