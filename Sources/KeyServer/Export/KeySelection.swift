// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Secrets

/// The keys of a period or of one of its files: those that were released or revised in it and that the filter admits,
/// in a range of their bytes.
struct KeySelection: Hashable, Sendable {
  /// The start of the period.
  let start: Date
  /// The end of the period, exclusive.
  let end: Date
  let filter: KeyFilter
  /// The bytes of the first key; nil for no lower limit.
  var firstKey: Data?
  /// The bytes of the first key that is not included; nil for no upper limit.
  var beforeKey: Data?
}

extension KeySelection: Redacted {
  /// The period only: the range consists of two keys.
  var description: String { "KeySelection(\(start)-\(end))" }
}

/// The keys of one batch, read from the database one at a time.
struct BatchKeys {
  /// The way in which a key came into the file.
  enum Kind: Hashable, Sendable {
    case uploaded
    /// A synthetic key.
    case padding
    /// A key of an earlier file with other properties.
    case revised
  }

  typealias Body = (_ key: DiagnosisKey, _ kind: Kind) throws -> Void

  private let read: (_ body: Body) throws -> Void

  init(_ read: @escaping (_ body: Body) throws -> Void) {
    self.read = read
  }

  /// Calls `body` for every new key in the order of their bytes, then for every revised key in the same order.
  func forEach(_ body: Body) throws {
    try read(body)
  }
}
