"""What each protection would do for a link: effective loss, speed, latency and buffers, from closed forms.

Its figure is `lossylink.planning.figure.plan_sheet`.
"""

from lossylink.planning.link import Link
from lossylink.planning.planner import Plan, plan
from lossylink.planning.prediction import Figure, Prediction
from lossylink.planning.verify import Comparison, verify
from lossylink.planning.workload import Workload

__all__ = ["Comparison", "Figure", "Link", "Plan", "Prediction", "Workload", "plan", "verify"]
