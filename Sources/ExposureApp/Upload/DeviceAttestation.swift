import Foundation

/// The system's word that this is a real device: on Apple's systems, DCDevice of DeviceCheck.
public protocol DeviceAttestation: Sendable {
  /// A fresh token that the key server can have confirmed, once.
  ///
  /// - Throws: where the device or its maker's server gives none just now.
  func token() async throws -> Data
}
