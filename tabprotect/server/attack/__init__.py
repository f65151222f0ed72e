"""An attacker who asks as everybody may: what can be got out of a table server that should stay in."""
