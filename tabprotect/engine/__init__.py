"""The headless engine: tables, cycles, protection, posteriors, bundles. No Qt, no printing."""
