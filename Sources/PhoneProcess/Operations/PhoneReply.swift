// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings
import World

/// The result of an operation, as the command prints it.
package struct PhoneReply: Codable, Hashable, Sendable {
  /// The exit code of the command.
  package enum Status: Int, Codable, Sendable {
    /// Done.
    case done = 0
    /// The operation was rejected.
    case refused = 1
    /// The request is not valid.
    case badInput = 2
    /// The machine or the network failed; a retry may help.
    case failed = 3
  }

  /// The exit code.
  package let status: Status
  /// The result for a person, or the reason of a failure in one line.
  package let text: String
  /// The result as one JSON object; `nil` if there is none.
  package let json: String?

  /// Creates a reply without a result.
  package init(_ status: Status, _ text: String) {
    self.status = status
    self.text = text
    json = nil
  }

  /// Creates a reply with a result.
  package init(_ status: Status = .done, _ text: String, _ result: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.unixSecond)
    }
    self.status = status
    self.text = text
    json = encoder.encodeIfPossible(result).map { String(decoding: $0, as: UTF8.self) }
  }
}
