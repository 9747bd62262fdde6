import Testing
@Test func placeholderVerificationServer() {}
