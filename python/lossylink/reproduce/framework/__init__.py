"""What runs, judges and shows published experiments, whichever they are."""
