"""The explorer: what a page in a browser needs to simulate links, and how the page is served."""
