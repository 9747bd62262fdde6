import Testing
@Test func placeholderDiagnosisKeyFile() {}
