/// A notification for the user.
public struct Notice: Sendable, Hashable {
  /// The kind of a notice. At most one notice of each kind is shown.
  public enum Identifier: String, Sendable, Codable, CaseIterable {
    /// The risk level has risen.
    case risk = "risk"
    /// Bluetooth is off, so no encounters are recorded.
    case bluetoothOff = "bluetooth-off"
  }

  /// The kind of the notice.
  public let identifier: Identifier
  /// The risk level that the notice reports, if any.
  public let riskLevel: RiskLevel?
  /// One line of text.
  public let title: String
  /// One or two sentences.
  public let body: String
}

extension Notice {
  /// The notice for a risk level; `nil` for `none`.
  static func risk(_ level: RiskLevel) -> Notice? {
    guard let words = words[level] else { return nil }
    return Notice(
      identifier: .risk, riskLevel: level, title: words.title, body: words.body)
  }

  /// The notice that Bluetooth is off.
  static let bluetoothOff = Notice(
    identifier: .bluetoothOff, riskLevel: nil,
    title: "Bluetooth is off",
    body:
      "While Bluetooth is off, this phone cannot record encounters. You can turn it on in Settings."
  )

  private static let words: [RiskLevel: (title: String, body: String)] = [
    .low: (
      "A brief encounter",
      "You were briefly near someone who has since tested positive. "
        + "The risk is low. Open the app for advice."
    ),
    .medium: (
      "An encounter with some risk",
      "You were near someone who has since tested positive. "
        + "The risk is moderate. Open the app for advice."
    ),
    .high: (
      "An encounter with high risk",
      "You spent time close to someone who has since tested positive. "
        + "Open the app to read what to do now."
    ),
  ]
}

/// Shows notices: the system's notification centre, or a recording in tests and simulations.
public protocol NoticeSink: Sendable {
  /// Shows a notice and replaces one of the same kind.
  func show(_ notice: Notice) async
  /// Removes the notice of this kind if it is shown.
  func remove(_ identifier: Notice.Identifier) async
}
