"""What the package carries with it and how it keeps files: no part of it knows what a link is."""
