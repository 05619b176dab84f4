"""A tester who means harm: what happens on a guarded link, and whether all is well two seconds later."""
