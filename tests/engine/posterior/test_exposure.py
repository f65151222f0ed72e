"""What somebody would know, from a posterior alone: the verdict's own figures."""

from __future__ import annotations

from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.posterior.exposure import exposure
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior_text import parse_prior
from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.release.mechanism import Gate


def test_a_reader_and_an_intruder_are_counted_as_the_verdict_counts_them() -> None:
    history = History()
    for order in (open_table(source="example:duncan-roehrig-4x4"), protect(seed=2**127 + 9)):
        history, _ = history.do(order)
    release = history.project.release
    assert release is not None
    # A limit that some beliefs pass.
    gate = Gate(belief_limit=0.5, intruder="positive")
    found = verdict(release, gate)
    for who, prior in (("user", "uniform"), ("intruder", "positive")):
        table = next(t for t in found.tables if t.who == who and t.inner)
        posterior = infer(likelihood_of(release), parse_prior(prior, release.domain))
        seen = exposure(posterior, gate.at_risk, gate.belief_limit)
        assert abs(seen.at_risk - table.at_risk) < 1e-9
        assert (seen.known, seen.certain) == (table.known, table.certain)
    assert any(table.known for table in found.tables)
