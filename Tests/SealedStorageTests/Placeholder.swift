import Testing
@Test func placeholderSealedStorage() {}
