enum PlaceholderVerificationAPI {}
