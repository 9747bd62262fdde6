// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import KeyServerAPI

/// The response to an accepted upload of the ProteGO Safe contract: `{"result": ""}`, and `warnings` if keys were
/// skipped.
struct UploadReport: Encodable, Hashable, Sendable {
  /// One sentence for each key that was not accepted.
  var skipped: [String] = []

  /// A report without skipped keys.
  init() {}

  /// The report that was stored with an upload.
  init(_ stored: Data) {
    skipped = String(decoding: stored, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The report as it is stored with the upload, so that a repeated request gets the same one.
  var stored: Data { Data(skipped.joined(separator: "\n").utf8) }

  private enum CodingKeys: String, CodingKey {
    case result
    case warnings
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(UploadResponse.accepted.result, forKey: .result)
    if !skipped.isEmpty { try container.encode(skipped, forKey: .warnings) }
  }
}
