"""The version, apart from the library's face so that the engine can name it."""

__version__ = "0.2.0"
