"""The version, alone, so that reading it costs no other import; pyproject.toml takes it from here."""

__version__ = "0.1.0"
