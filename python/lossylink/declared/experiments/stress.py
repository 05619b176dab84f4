"""The stress test: what a protection leaves of the losses and of the link's speed at full load."""

from __future__ import annotations

from lossylink.declared.column import RETRANSMISSIONS, Column
from lossylink.declared.experiment import COMMON_ROW, Experiment, Growth

EXPERIMENT = Experiment(
    name="stress",
    summary="frames at line rate over the protected link",
    own_keys=(
        *("link.rate_back", "traffic.packets", "traffic.frame", "traffic.source"),
        *("run.rare", "run.looks", "run.tail"),
    ),
    row_keys=(
        *COMMON_ROW,
        *("actual_loss_rate", "packets_sent", "packets_delivered"),
        *("effective_loss_rate", "effective_loss_ci95"),
        *("effective_loss_design_effect", "effective_loss_batches", "effective_link_speed_gbps"),
        *("tx_buffer_kb_min", "tx_buffer_kb_p50", "tx_buffer_kb_max"),
        *("rx_buffer_kb_min", "rx_buffer_kb_p50", "rx_buffer_kb_max"),
        *("retransmissions", "retx_delay_us_p50", "retx_delay_us_max"),
        *("duplicates_dropped", "timeouts", "reordered_packets"),
        *("simulated_seconds", "packets_per_wall_second"),
    ),
    rare_row_keys=(
        *("residual_loss_rate", "residual_loss_ci95", "residual_loss_theory", "rare_verdict"),
        *("rare_relative_error", "rare_effective_samples", "rare_looks", "rare_hits"),
        "rare_method",
        *(
            f"rare_late_{key}_{share}"
            for share in ("1e_6", "1e_7", "1e_8", "1e_9")
            for key in ("us", "us_ci95", "verdict")
        ),
    ),
    headline=(
        Column("effective_loss_rate", "lost", kind="share", bound="effective_loss_ci95"),
        Column("effective_link_speed_gbps", "speed", "Gb/s", versus=True),
        Column("tx_buffer_kb_max", "Tx buffer", "KB"),
        Column("rx_buffer_kb_max", "Rx buffer", "KB"),
        RETRANSMISSIONS,
        Column("reordered_packets", "reordered", kind="count"),
    ),
    rare_headline=(
        Column("residual_loss_rate", "residual loss", kind="share"),
        Column("residual_loss_ci95", "95 % interval", kind="text"),
        Column("rare_verdict", "verdict", kind="text"),
        Column("rare_late_us_1e_6", "1e-6 are later than", "us"),
        Column("residual_loss_theory", "closed form", kind="share"),
        Column("rare_effective_samples", "samples", kind="count", of="rare_looks"),
    ),
    spreads="jobs",
    sources=("generator", "saturated"),
    growth=Growth(
        key="traffic.packets",
        column="effective_loss_rate",
        shares={
            "effective_loss_rate": (
                *("effective_lost_packets", "packets_sent"),
                *("effective_loss_design_effect", "effective_loss_batches"),
            )
        },
    ),
)
