enum PlaceholderQuietHTTP {}
