"""Software switches that run the programs of ``p4/``, and their control plane."""
