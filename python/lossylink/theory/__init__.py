"""Closed forms that the experiments are held against, one module a family.

Every function takes keyword-only arguments that carry their unit in the name, broadcasts over numpy
arrays, refuses impossible values with a one-line `ValueError`, and states its source and the range
in which it holds. `phy` takes single numbers in place of arrays.

| module | what it predicts |
|---|---|
| `mathis` | Reno's bandwidth under random loss, without timeouts |
| `pftk` | Reno's bandwidth with retransmission timeouts |
| `cubic` | CUBIC's average window: its own region, the Reno-friendly one, the larger |
| `dctcp` | DCTCP's alpha and window under random and under threshold marking |
| `linkguardian` | copies, effective loss, link speed, pause expiry, sequence wrap |
| `llr` | loop, buffer, timer, speed and residual loss of go-back-N on a link |
| `fec` | residual loss, capacity share and recovery delay of a (k, h) block code |
| `phy` | lost frames of a line by its bit errors and its own code |
"""

__all__ = ["cubic", "dctcp", "fec", "linkguardian", "llr", "mathis", "pftk", "phy"]
