/// How the system asks the person: a dialog, a page, or the rule of a simulated town.
///
/// Asked only where Apple's system asks; see Documentation/Framework.md 5.
public protocol ConsentPrompt: Sendable {
  /// Puts the question to the person and waits for the answer; `bundleIdentifier` names the app
  /// that asks.
  ///
  /// - Throws: where the question could not be put at all, for a cause of its own; the app's call then
  ///   fails with `.unknown`, and nothing is remembered as a no.
  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async throws -> Bool

  /// Tells the person something that is not a question. Where nothing is written here, it tells
  /// nothing.
  func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async
}

extension ConsentPrompt {
  /// Tells nothing.
  public func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {}
}
