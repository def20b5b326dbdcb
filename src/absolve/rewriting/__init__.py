"""Rewriting: a policy returns the new text of each link; edits are spliced into the bytes of the document.

In: an Entity and a policy. Out: the bytes of the document in which only links have changed.
Imports nothing of the inventory, of files or of the command line.
"""
