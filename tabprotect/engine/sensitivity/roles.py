"""The roles of a table's variables: which are sensitive, and by which readers know people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Roles(Encodable):
    """The variables that nobody should learn of a group of people, and those that tell the groups.

    Attributes
    ----------
    sensitive
        Sensitive variables with their categories that matter; none for all of them. No variable: each in
        turn.
    key_variables
        The variables by which groups are told apart; none for all but the sensitive one.
    """

    sensitive: Mapping[str, tuple[str, ...]]
    key_variables: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash((tuple(self.sensitive.items()), self.key_variables))

    def __bool__(self) -> bool:
        return bool(self.sensitive or self.key_variables)

    @classmethod
    def parse(cls, sensitive: Sequence[str] = (), key_variables: Sequence[str] = ()) -> Roles:
        """Read sensitive variables as ``NAME`` or ``NAME=CATEGORY,...``, and the names of key variables."""
        found: dict[str, tuple[str, ...]] = {}
        for text in sensitive:
            name, _, chosen = text.partition("=")
            found[name.strip()] = tuple(filter(None, map(str.strip, chosen.split(","))))
        return cls(found, tuple(key_variables))

    @property
    def words(self) -> list[str]:
        """The sensitive variables as they are written."""
        return ["=".join(filter(None, (name, ",".join(of)))) for name, of in self.sensitive.items()]

    def checked(self, domain: Domain) -> Roles:
        """Return the roles if the table has what they name.

        Raises
        ------
        ParameterError
            For a variable or category that there is not, and a variable of two roles.
        """
        wrong: dict[str, str] = {}
        for name, categories in self.sensitive.items():
            if name not in domain.names:
                wrong["sensitive"] = message("the table has no variable {name}", repr(name))
            elif unknown := [one for one in categories if one not in domain[name].categories]:
                wrong["sensitive"] = message("{name} has no category {one}", name, repr(unknown[0]))
        for name in self.key_variables:
            if name not in domain.names:
                wrong["key_variables"] = message("the table has no variable {name}", repr(name))
            elif name in self.sensitive:
                wrong["key_variables"] = message("{name} is sensitive", name)
        if wrong:
            raise ParameterError(wrong)
        return self

    def renamed(self, variable: str, to: str) -> Roles:
        """The roles after a variable was renamed."""
        name = {variable: to}
        return Roles(
            {name.get(one, one): of for one, of in self.sensitive.items()},
            tuple(name.get(one, one) for one in self.key_variables),
        )

    def on(self, domain: Domain) -> Roles:
        """The roles on a changed table; of a variable that lost a category that matters all do."""
        return Roles(
            {
                name: of if set(of) <= set(domain[name].categories) else ()
                for name, of in self.sensitive.items()
                if name in domain.names
            },
            tuple(name for name in self.key_variables if name in domain.names),
        )

    def beside(self, names: Sequence[str], domain: Domain) -> Roles:
        """The roles with further variables sensitive, as far as the table has them."""
        further = {name: () for name in names if name in domain.names and name not in self.key_variables}
        return replace(self, sensitive={**further, **self.sensitive})

    def asked(self, domain: Domain) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        """Axes of a table: a sensitive variable, those by which its groups are told; and its categories."""
        of = [name.partition("@")[0] for name in domain.names]
        for axis, variable in enumerate(domain.variables):
            name = variable.name if variable.name in self.sensitive else of[axis]
            if self.sensitive and name not in self.sensitive:
                continue
            keys = tuple(
                other
                for other, key in enumerate(of)
                if other != axis and (not self.key_variables or key in self.key_variables)
            )
            chosen = self.sensitive.get(name, ())
            places = [n for n, label in enumerate(variable.categories) if label in chosen]
            yield axis, keys, tuple(places or range(len(variable.categories)))


NO_ROLES = Roles({})
