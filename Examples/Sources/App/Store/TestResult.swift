import Foundation

/// One positive test of the person's.
public struct TestResult: Codable, Equatable {
  /// Which one.
  public let id: UUID
  /// The code that proves it to the authority; good for one upload.
  public var code: String
  /// When the test was taken.
  public var dateAdministered: Date
  /// Whether the person went through to the end of entering it.
  public var isAdded = false
  /// Whether the keys were shared.
  public var isShared = false
}
