"""What the report of a reproduction says about how its figures and verdicts come about."""

from __future__ import annotations

METHOD = (
    "A figure in brackets is a 95 % interval, unless the claim says another. `calibrated` marks "
    "claims to which our model was fitted: agreement there is no evidence. `assumed` marks claims "
    "that a value decides which no source gives. Claims without a mark are predictions. Values that "
    "were fitted or assumed were each raised by half, shares halved, and what that moved stands with "
    "the claim.",
    "Percentiles interpolate linearly between order statistics. Their intervals come from ranks "
    "alone, so they assume no distribution; the interval of a ratio is a bootstrap over both samples,"
    " without an end where a sample is too small to bound its percentile; intervals of loss rates are"
    " exact binomial or Poisson ones, and no event in n trials is reported as an upper bound. All are"
    " at 95 %, that of the effective loss too, with two exceptions: whether the link really lost "
    "frames at the rate that was asked for is judged at 99.9 %, and a claim that needed more than the "
    "published trials at 99.5 %.",
    "The published amount of work is done first, and tables and charts show it. What the budget leaves "
    "goes to more trials for claims that this amount leaves open: first for the claim that is cheapest to"
    " decide, each time twice as many or more. Such a claim is looked at again and again, which at 95 % "
    "would find a wrong verdict in the end. A claim about the published amount itself, such as the "
    "quickest of so many flows, is judged by this amount alone. The clock decides how many trials a claim"
    " gets, and so which claims are decided; the seed decides what so many trials give.",
    "A claim holds when its figure and the whole interval satisfy it, fails when neither does, and "
    "has too few trials to tell in between. A published bound such as “15 times” is a round figure: "
    "an interval may cross it by a tenth. A claim that fails because the source is wrong is refuted, "
    "and its reason says what is true instead. It is undecidable when its percentile lies so close to"
    " the edge between two kinds of flows that a hundred million flows would not tell. A claim of the"
    " set-up reads the configuration back from the run, and counts apart.",
)
