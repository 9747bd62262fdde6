import Foundation
import KeyServerAPI

/// What revision tokens measure, and how long their keys last. Documentation/KeyServer.md 9.
enum RevisionLimit {
  /// Entries of a token at least; those that are missing are padding.
  static let entriesMin = 28
  /// Entries that are taken over from an earlier token at most.
  static let entriesMax = 300
  /// The longest text that is looked at, in bytes: what fits in a body anyway.
  static let textBytesMax = 20 * 1024
  /// How long a sealing key is used for new tokens, in seconds: 168 hours.
  static let keyUseSeconds: TimeInterval = 168 * 3_600
  /// How long a sealing key still opens tokens after its successor came, in seconds: 360 hours.
  static let keyAfterlifeSeconds: TimeInterval = UploadLimit.keyAgeSecondsMax
  /// How long the keys that were read may be used before they are read again, in seconds.
  static let keyringAgeSecondsMax: TimeInterval = 60
  /// Bytes of the constant that every token is bound to, at least.
  static let contextBytesMin = 16
  /// Bytes of the key that the sealing keys are kept under.
  static let wrappingKeyBytes = 32
}
