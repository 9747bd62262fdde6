// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore

/// The fields of a form with the media type `application/x-www-form-urlencoded`.
package enum URLEncodedForm {
  /// Decodes a body. The fields are in its order, and a name may occur twice.
  package static func fields(
    _ body: Data, fieldsMax: Int = .max
  ) throws(MalformedForm) -> [(name: String, value: String)] {
    let parts = body.split(separator: UInt8(ascii: "&"))
    guard parts.count <= fieldsMax else { throw MalformedForm() }
    return try parts.map { part throws(MalformedForm) in
      let pair = part.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = pair.first else { throw MalformedForm() }
      return (try decoded(name), pair.count == 2 ? try decoded(pair[1]) : "")
    }
  }

  private static func decoded(_ bytes: Data) throws(MalformedForm) -> String {
    var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], ArraySlice(bytes))
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): result.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else { throw MalformedForm() }
        result.append(high << 4 | low)
      default: result.append(byte)
      }
    }
    guard let text = String(validating: result, as: UTF8.self) else { throw MalformedForm() }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}

/// A body is not a form of its media type, or has too many fields.
package struct MalformedForm: Error {
  /// Creates the error.
  package init() {}
}

extension Request {
  /// The whole body; nil if it is larger than `bytesMax`, or the client is gone.
  package func body(atMost bytesMax: Int) async -> Data? {
    // Both errors end in the same response, which a client that is gone does not get.
    (try? await body.collect(upTo: bytesMax)).map { Data($0.readableBytesView) }
  }
}
