import Testing
@Test func placeholderExposureKeys() {}
