"""tabprotect: statistical disclosure control of contingency tables."""

__version__ = "0.1.0"
