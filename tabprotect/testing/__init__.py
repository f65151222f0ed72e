"""The checks that hold for all plug-ins, for those who write one of their own.

>>> from tabprotect.testing import check_method
>>> from tabprotect.engine.protection.methods.random_rounding import RandomRounding
>>> check_method(RandomRounding)

Each raises ``CheckFailed``, an ``AssertionError`` whose text says what is wrong. They need no test
framework, and no registration of the plug-in.
"""

from tabprotect.testing.calibration import Calibration, calibrate, calibrate_method
from tabprotect.testing.failure import CheckFailed
from tabprotect.testing.format_checks import check_format
from tabprotect.testing.measure_checks import check_measure
from tabprotect.testing.method_checks import check_method
from tabprotect.testing.query_space_checks import check_criterion, check_rule
from tabprotect.testing.sensitivity_checks import check_sensitivity_rule

__all__ = [
    "Calibration",
    "CheckFailed",
    "calibrate",
    "calibrate_method",
    "check_criterion",
    "check_format",
    "check_measure",
    "check_method",
    "check_rule",
    "check_sensitivity_rule",
]
