import Testing
@Test func placeholderKeyServer() {}
