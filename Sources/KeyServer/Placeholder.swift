enum PlaceholderKeyServer {}
