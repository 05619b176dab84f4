"""What a run gives: its rows and tables, how they are kept, shown in short, and checked."""
