enum PlaceholderTown {}
