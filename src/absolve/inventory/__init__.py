"""The inventory: a row for each link, as columns, and the formats that rows are written in.

In: an Entity. Out: columns (document, line, reference, target, base, problems and more), Arrow batches, files.
Does not know rewriting or the command.
"""
