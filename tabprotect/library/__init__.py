"""The library's face: what ``import tabprotect`` offers, built on project and engine."""
