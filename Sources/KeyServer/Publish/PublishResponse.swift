import ExposureKeys
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP

extension PublishResponse {
  /// The response to an upload that was accepted with `outcome`.
  ///
  /// - Throws: If the revision token cannot be encrypted. Nothing may be stored then: the client could
  ///   never revise its keys.
  init(
    _ keys: CheckedKeys, _ outcome: StoredUploadCounts, earlier: [RevisableKey],
    sealedWith ring: RevisionKeyring, at now: Date
  ) throws {
    let others = Self.stillRevisable(earlier, at: now).filter { !outcome.revisable.contains($0) }
    let token = RevisionToken(outcome.revisable + others)
    self.init(
      revisionToken: try token.text(sealedWith: ring),
      insertedExposures: outcome.inserted,
      error: keys.faults.isEmpty ? nil : keys.faults.joined(separator: " "),
      code: keys.faults.isEmpty ? nil : .partialFailure,
      warnings: keys.warnings.isEmpty ? nil : keys.warnings)
  }

  /// The JSON of the response without its padding.
  var json: Data {
    get throws {
      // Fast path for the usual response, whose values need no escapes: a number and base64.
      if let revisionToken, let insertedExposures, error == nil, code == nil, warnings == nil {
        let text =
          #"{"insertedExposures":\#(insertedExposures),"revisionToken":"\#(revisionToken)"}"#
        return Data(text.utf8)
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// The keys of an earlier token that are not older than an upload may be; of too many, the newest.
  private static func stillRevisable(
    _ keys: [RevisableKey], at now: Date
  ) -> [RevisableKey] {
    let oldest = IntervalNumber(now.addingTimeInterval(-UploadLimit.keyAgeSecondsMax))
    let live = keys.filter { $0.key.rollingEnd >= oldest ?? IntervalNumber(rawValue: 0) }
    guard live.count > RevisionLimit.entriesMax else { return live }
    let newestFirst = live.sorted { $0.key.rollingStart > $1.key.rollingStart }
    return Array(newestFirst.prefix(RevisionLimit.entriesMax))
  }
}

extension ErrorBody {
  /// The form in which `/v1/publish` and `/v1/stats` return the errors of the HTTP layer.
  static let publish = ErrorBody { PublishResponse(error: $0.message, code: $0.publishCode) }
}

extension ResponseShape {
  /// Pads every response of `/v1/publish` to the length of one with a revision token, and adds the version.
  static let publish: ResponseShape = {
    var headers = HTTPFields()
    if let name = HTTPFields.Element.Name("x-api-version") { headers[name] = "v1" }
    return ResponseShape(bytesMin: PublishLimit.responseBytesMin, headers: headers)
  }()
}

extension QuietRefusal {
  fileprivate var publishCode: PublishCode {
    switch self {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed, .notFound: .badRequest
    case .tooManyAttempts: .tooManyRequests
    case .unavailable, .internalError: .internalError
    }
  }
}
