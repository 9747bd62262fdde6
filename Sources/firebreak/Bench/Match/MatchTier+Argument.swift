import ArgumentParser
import ExposureNotification

extension MatchTier: ExpressibleByArgument {}
extension MatchTier: Encodable {}

extension MatchTier {
  /// Itself, or a refusal that names what this machine has.
  func orRefusal() throws -> MatchTier {
    guard !isAvailable else { return self }
    let names = Self.available.map(\.rawValue).joined(separator: ", ")
    throw CommandFailure.badInput(
      "This machine does not have the tier \(rawValue): take one of \(names).")
  }
}
