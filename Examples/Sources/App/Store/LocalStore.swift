import Foundation

/// Everything the app remembers. It never leaves the phone.
public final class LocalStore {
  /// Whether the person has been through the onboarding.
  @Persisted public var isOnboarded: Bool
  /// What the checks have found so far.
  @Persisted public var findings: Findings
  /// Why the last check failed, in words for the person; nil where it did not.
  @Persisted public var checkError: String?
  /// The person's tests.
  @Persisted public var testResults: [UUID: TestResult]

  /// The store in `storage`.
  public init(in storage: KeyValueStorage) {
    _isOnboarded = Persisted(wrappedValue: false, "isOnboarded", in: storage)
    _findings = Persisted(wrappedValue: Findings(), "findings", in: storage)
    _checkError = Persisted(wrappedValue: nil, "checkError", in: storage)
    _testResults = Persisted(wrappedValue: [:], "testResults", in: storage)
  }
}
