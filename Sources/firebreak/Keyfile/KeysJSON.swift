import ExposureKeys
import Foundation

/// The keys that `keyfile make` is given: a publish request's keys, with what a file may add.
struct KeysJSON {
  /// Sorted as a key file wants them.
  let keys: [DiagnosisKey]
  /// The same for revised keys.
  let revisedKeys: [DiagnosisKey]

  /// Reads the JSON, or says which key is wrong and how.
  init(decoding data: Data) throws {
    let wire: Wire
    do {
      wire = try JSONDecoder().decode(Wire.self, from: data)
    } catch let error as DecodingError {
      throw CommandFailure.badInput("The file of keys: \(Self.sentence(for: error))")
    }
    keys = try Self.sorted(wire.temporaryExposureKeys, in: "temporaryExposureKeys")
    revisedKeys = try Self.sorted(wire.revisedKeys ?? [], in: "revisedKeys")
  }

  private struct Wire: Decodable {
    let temporaryExposureKeys: [KeyJSON]
    let revisedKeys: [KeyJSON]?
  }

  private static func sorted(_ keys: [KeyJSON], in list: String) throws -> [DiagnosisKey] {
    try keys.enumerated().map { index, key in
      guard let key = key.diagnosisKey else {
        throw CommandFailure.badInput(
          "\(list)[\(index)]: a key has 16 bytes in base64, a rollingPeriod of 1...144, a "
            + "transmissionRisk of 0...8 and a rollingStartNumber that ends within 31 bits.")
      }
      return key
    }.sorted(by: DiagnosisKey.inFileOrder)
  }

  /// Names the place, never the value: it may be a key.
  private static func sentence(for error: DecodingError) -> String {
    let (path, problem) =
      switch error {
      case .keyNotFound(let key, let context):
        (context.codingPath + [key], "is missing")
      case .typeMismatch(_, let context): (context.codingPath, "is of the wrong type")
      case .valueNotFound(_, let context): (context.codingPath, "is null")
      case .dataCorrupted(let context): (context.codingPath, "makes no sense")
      @unknown default: ([] as [any CodingKey], "makes no sense")
      }
    let place = path.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return place.isEmpty ? "it is no JSON object of keys." : "\(place.dropFirst()) \(problem)."
  }
}
