import Testing
@Test func placeholderHouse() {}
