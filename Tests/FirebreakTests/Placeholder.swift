import Testing
@Test func placeholderFirebreak() {}
