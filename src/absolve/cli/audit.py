"""`absolve audit`: what a migration broke, where, and why.

Input: the options. Output: verdicts for all links of the new site and all URLs of the old one, in files of any format.
"""

from __future__ import annotations

import copy
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absolve.audit import keys, servers, tables
from absolve.cli import failures, many
from absolve.cli import options as shared
from absolve.core.errors import DocumentError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.audit.judge import Question
    from absolve.cli.reporting import Report
