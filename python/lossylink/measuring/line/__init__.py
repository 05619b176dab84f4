"""The gauges of a line: what its own error correction counts, and what follows for codewords and frames."""
