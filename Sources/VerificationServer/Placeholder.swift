enum PlaceholderVerificationServer {}
