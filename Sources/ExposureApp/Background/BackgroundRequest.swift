import Foundation

/// A wish to be woken. Documentation/App.md 7.
public struct BackgroundRequest: Sendable, Hashable {
  /// What the identifier of the exposure check ends with; the system gives such runs more time.
  public static let suffix = ".exposure-notification"

  /// Which of the app's runs it is.
  public let identifier: String
  /// Not before this moment.
  public let earliest: Date
  /// Whether it makes sense only with a connection.
  public let needsNetwork: Bool

  /// Asks for a run.
  public init(identifier: String, earliest: Date, needsNetwork: Bool) {
    self.identifier = identifier
    self.earliest = earliest
    self.needsNetwork = needsNetwork
  }
}
