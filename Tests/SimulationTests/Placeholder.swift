import Testing
@Test func placeholderSimulation() {}
