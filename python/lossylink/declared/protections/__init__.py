"""What protects a link, one module a family; everything that is particular to a family is in its module.

Every module of this package without a leading underscore is a family and has one `Family`, called
``FAMILY``. They are found when they are first needed: a new module is a new protection everywhere, in
scenarios, help texts, figures, the planner, the live lab and its measurements. `Family` says what it
provides.

The core has the same families (``crates/core/src/protection``), and its checks are the ones that count:
Python turns text into values and leaves ranges to ``_native.check_protection``.
"""

from __future__ import annotations

from lossylink.declared.protections._family import Argument, Family, Look, Option, Report, Spelling
from lossylink.declared.protections._protection import Protection, keeps_order, parse_protection
from lossylink.declared.protections._registry import (
    common_options,
    families,
    family_of,
    for_copies,
    look_of,
    name_of,
    read_common,
    spellings,
    takes_option,
    usages,
)

__all__ = [
    "Argument",
    "Family",
    "Look",
    "Option",
    "Protection",
    "Report",
    "Spelling",
    "common_options",
    "families",
    "family_of",
    "for_copies",
    "keeps_order",
    "look_of",
    "name_of",
    "parse_protection",
    "read_common",
    "spellings",
    "takes_option",
    "usages",
]
