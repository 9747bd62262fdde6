// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Rejects JSON that decoders read differently or without a limit.
///
/// `JSONDecoder` silently picks one of two fields with the same name, guesses the encoding and nests
/// without a limit that we control. Check the bytes here before decoding them.
public enum StrictJSONValidator {
  /// The number of objects and arrays that may be nested in one another.
  public static let depthMax = 16

  /// Returns `true` if `json` is one JSON value in UTF-8 without a byte order mark (RFC 8259, section
  /// 8.1), no object has a field twice, and it nests at most `depthMax` deep.
  public static func accepts(_ json: Data, atMost limit: JSONLimit = .none) -> Bool {
    var cursor = JSONCursor(Array(json), atMost: limit)
    do {
      try cursor.skipValue(depth: depthMax)
      try cursor.end()
      return true
    } catch {
      return false
    }
  }
}

/// A limit of the work of decoding a body: many short values and escape sequences cost a decoder up to a hundred
/// times as much as an ordinary body of the same length.
public struct JSONLimit: Hashable, Sendable {
  /// Elements of arrays and fields of objects.
  let values: Int
  /// Escape sequences in strings.
  let escapes: Int

  /// No limit, for files and messages of the own user.
  public static let none = JSONLimit(values: .max, escapes: .max)
  /// The limit of requests to servers. An upload of 30 keys has less than 200 values. Base64 of the longest body has
  /// about 1,000 slashes, which some encoders escape.
  public static let request = JSONLimit(values: 1_000, escapes: 2_000)
}
