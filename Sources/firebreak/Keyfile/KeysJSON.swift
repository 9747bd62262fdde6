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
      throw CommandFailure.badInput(
        "The file of keys: \(error.sentence(otherwise: "it is no JSON object of keys."))")
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
}
