"""TCP under random loss against the inverse-square-root law: the study, its figures and its six traps."""

from lossylink.checks import any_failed
from lossylink.experiments.mathis import traps
from lossylink.experiments.mathis.design import Design, Trial, trials
from lossylink.experiments.mathis.study import Study, run

__all__ = ["Design", "Study", "Trial", "any_failed", "run", "traps", "trials"]
