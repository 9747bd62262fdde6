enum PlaceholderKeyServerAPI {}
