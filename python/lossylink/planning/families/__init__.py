"""What each family of protections would do on a link, a module a family."""
