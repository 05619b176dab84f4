"""Software switches that run the programs of ``p4/``, and their control plane."""

__all__ = ["common", "fec_model", "linkguardian", "runtime", "sources", "switch", "tools"]
