"""Losses from what other tools print: iperf3, ss and tc."""
