// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The reason why data could not be stored or decrypted.
public struct SealedStorageError: Error, Hashable, Sendable {
  /// The kind of an error. Later versions may add kinds, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    fileprivate enum Kind: String { case full, tooLarge, damaged, disk }

    fileprivate let kind: Kind

    /// No space is left, or the file would exceed the limits of the system. Existing content is unchanged.
    public static let full = Self(kind: .full)
    /// The data exceeds a limit, so a retry does not help.
    public static let tooLarge = Self(kind: .tooLarge)
    /// The bytes were not encrypted with this key and purpose, or were changed.
    public static let damaged = Self(kind: .damaged)
    /// Another error of the system.
    public static let disk = Self(kind: .disk)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of error.
  public let code: Code
  /// The `errno` of the code `disk`, nil for the others.
  public let systemError: Int32?

  private init(_ code: Code, systemError: Int32? = nil) {
    self.code = code
    self.systemError = systemError
  }

  /// An error of the code `full`.
  public static let full = Self(.full)
  /// An error of the code `tooLarge`.
  public static let tooLarge = Self(.tooLarge)
  /// An error of the code `damaged`.
  public static let damaged = Self(.damaged)
  /// An error of the code `disk` with this `errno`.
  public static func disk(_ systemError: Int32) -> Self { Self(.disk, systemError: systemError) }
}

extension SealedStorageError: CustomStringConvertible {
  /// The failure and what to do.
  public var description: String {
    let number = systemError ?? 0
    return switch code.kind {
    case .full: "The disk is full: free some space and try again; existing data is unchanged."
    case .tooLarge: "The data exceeds the limit of a file: store less at once."
    case .damaged: "The file cannot be decrypted: set it aside and begin a new one."
    case .disk:
      """
      The system reported "\(String(cString: strerror(number)))" (\(number)): check the folder's owner, its \
      mode and the disk, and try again.
      """
    }
  }
}
