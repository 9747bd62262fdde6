import Foundation

/// Who vouches for this device: the part of Apple's system that a program on Linux provides.
public protocol DeviceTokenSource: Sendable {
  /// A new token. Throws a `DCError` where it cannot be had.
  func token() async throws -> Data
}
