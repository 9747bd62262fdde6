import Testing
@Test func placeholderExposureNotification() {}
