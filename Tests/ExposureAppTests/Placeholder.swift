import Testing
@Test func placeholderExposureApp() {}
