import ExposureApp
import Foundation

/// The word of a device's maker, as a simulated maker gives it.
public struct GenuineDevice: DeviceAttestation {
  private let issue: @Sendable () async -> Data

  /// A device whose maker gives the tokens that `issue` makes.
  public init(issue: @escaping @Sendable () async -> Data) {
    self.issue = issue
  }

  public func token() async throws -> Data {
    await issue()
  }
}
