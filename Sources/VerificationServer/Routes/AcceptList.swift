import VerificationAPI

/// The kinds of test that an app can deal with.
///
/// Documentation/VerificationServer.md 2.2: `likely` includes `confirmed`, `negative` both; an empty list is all
/// there are.
struct AcceptList: Sendable {
  let types: Set<TestType>

  /// Nil where one of `names` is no kind of test.
  init?(_ names: [String]?) {
    guard let names, !names.isEmpty else {
      types = Set(TestType.allCases)
      return
    }
    let named = names.compactMap(TestType.init(rawValue:))
    guard named.count == names.count else { return nil }
    types = named.reduce(into: []) { $0.formUnion($1.accepted) }
  }
}
