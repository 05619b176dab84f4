"""What each protection would do for a link: effective loss, speed, latency and buffers, from closed forms.

The figure is `lossylink.plan.figure.plan_figure`; it is not imported here, because matplotlib takes longer to
load than a plan takes to make.
"""

from lossylink.plan.link import Link
from lossylink.plan.planner import Plan, plan
from lossylink.plan.prediction import Figure, Prediction
from lossylink.plan.verify import Comparison, verify

__all__ = ["Comparison", "Figure", "Link", "Plan", "Prediction", "plan", "verify"]
