/// A few calm words to the person who carries this phone. Documentation/App.md 5.
public struct Notice: Sendable, Hashable {
  /// Which notice it is. Two of the same identifier are never shown beside each other.
  public enum Identifier: String, Sendable, Codable, CaseIterable {
    /// The risk level has risen.
    case risk = "risk"
    /// Bluetooth is off, so nothing is heard.
    case bluetoothOff = "bluetooth-off"
  }

  /// Which notice it is.
  public let identifier: Identifier
  /// The level that it tells of, where it tells of one.
  public let riskLevel: RiskLevel?
  /// One line.
  public let title: String
  /// One or two sentences.
  public let body: String
}

extension Notice {
  /// The risk has risen to `level`; nil for a level that nobody needs to hear of.
  static func risk(_ level: RiskLevel) -> Notice? {
    guard let words = words[level] else { return nil }
    return Notice(
      identifier: .risk, riskLevel: level, title: words.title, body: words.body)
  }

  /// Bluetooth is off.
  static let bluetoothOff = Notice(
    identifier: .bluetoothOff, riskLevel: nil,
    title: "Bluetooth is off",
    body:
      "While Bluetooth is off, this phone cannot notice encounters. You can turn it on in Settings."
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
