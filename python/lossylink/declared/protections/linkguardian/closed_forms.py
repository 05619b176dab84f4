"""What LinkGuardian's rules and closed forms say of independent losses: copies, and the loss that is left."""

from __future__ import annotations

from dataclasses import dataclass

from lossylink.declared.protections.linkguardian.limits import PUBLISHED_HOLES, most_copies
from lossylink.theory import linkguardian


@dataclass(frozen=True, kw_only=True)
class Options:
    """LinkGuardian's parameters for a link."""

    ordered: bool
    copies: int
    unlimited_holes: bool
    control_copies: int = 1
    """Copies of each loss notification (LG-46)."""

    @property
    def spelling(self) -> str:
        """As `lossylink run` takes it."""
        holes = ",holes=unlimited" if self.unlimited_holes else ""
        control = f",control_copies={self.control_copies}" if self.control_copies > 1 else ""
        return f"{'lg' if self.ordered else 'lg-nb'}:copies={self.copies}{control}{holes}"


def copies(loss_ratio: float) -> int:
    """Return the copies of a frame that the core sends under independent losses (LG-19).

    Examples
    --------
    >>> [copies(loss_ratio) for loss_ratio in (0, 1e-3, 0.5, 1)]
    [1, 2, 16, 16]
    """
    if not 0 < loss_ratio < 1:
        return most_copies() if loss_ratio else 1
    return min(int(linkguardian.copies(loss_ratio=loss_ratio)), most_copies())


def control_copies(reverse_loss_ratio: float) -> int:
    """Return the copies of a loss notification that the core sends by its rule (LG-46)."""
    return copies(reverse_loss_ratio)


def effective_loss(options: Options, loss_ratio: float, reverse_loss_ratio: float = 0.0) -> float:
    """Loss left of independent losses after one round of copies, of which a run asks for the first five.

    Where the way back loses control frames too, the notification of a loss may be lost in all its copies.
    """
    copies_lost = float(
        linkguardian.effective_loss_ratio(
            loss_ratio=loss_ratio,
            copies=options.copies,
            reverse_loss_ratio=reverse_loss_ratio,
            control_copies=options.control_copies,
        )
    )
    if options.unlimited_holes:
        return copies_lost
    beyond_cap = loss_ratio**PUBLISHED_HOLES
    return (1 - beyond_cap) * copies_lost + beyond_cap * loss_ratio
