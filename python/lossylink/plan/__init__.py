"""What each protection would do for a link: effective loss, speed, latency and buffers, from closed forms."""

from lossylink.plan.figure import plan_figure
from lossylink.plan.link import Link
from lossylink.plan.planner import Plan, plan
from lossylink.plan.prediction import Figure, Prediction
from lossylink.plan.verify import Comparison, verify

__all__ = ["Comparison", "Figure", "Link", "Plan", "Prediction", "plan", "plan_figure", "verify"]
