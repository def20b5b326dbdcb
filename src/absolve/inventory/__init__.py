"""The inventory: a row for each link, as columns, and the formats that rows are written in.

In: an Entity. Out: columns (document, line, reference, target, base, problems and more), Arrow batches, files.
Does not know rewriting or the command.
"""

BEFORE_BASE = "before-base"  # of links that browsers fetch before the base element applies
COMPANION = "companion"  # of a link to a file that was saved with its document
PROBLEMS = (  # the codes of `inventory.problems`, in the order of a row; here for the options of commands without rows
    *("unresolved", "unsuitable-base", "relative-base", "ignored-base", "malformed", "too-long", "above-root"),
    *("divergent", "empty", "insecure", "scheme-relative", "backslash", "whitespace", "placeholder", COMPANION),
    BEFORE_BASE,
)
