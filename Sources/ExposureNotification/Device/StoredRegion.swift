import DiagnosisKeyFile
import Foundation

/// One entry of a region configuration file, with Apple's field names.
struct StoredRegion: Codable {
  static let bytesMax = 64 << 10
  static let keysMax = 10

  let countryCode: String
  let state: String?
  let regionIdentifier: String
  let publicKey: String
  let publicKeyVersion: String

  static func list(from json: Data) throws(RegionConfigurationError) -> [StoredRegion] {
    guard json.count <= bytesMax else { throw .tooLarge }
    let decoder = JSONDecoder()
    guard
      let list = (try? decoder.decode([StoredRegion].self, from: json))
        ?? (try? decoder.decode(StoredRegion.self, from: json)).map({ [$0] })
    else { throw .malformed }
    guard list.count <= keysMax else { throw .tooLarge }
    return list
  }

  /// Nil where the country is not two capital letters.
  var region: String? {
    let isCountry = countryCode.utf8.count == 2 && countryCode.utf8.allSatisfy { (65...90) ~= $0 }
    guard isCountry else { return nil }
    return state.map { $0.isEmpty ? countryCode : "\(countryCode)-\($0)" } ?? countryCode
  }

  /// The key, as base64 of its DER, as Apple has it, or as PEM.
  var key: VerificationPublicKey {
    get throws(RegionConfigurationError) {
      do {
        return try VerificationPublicKey(
          keyID: regionIdentifier, keyVersion: publicKeyVersion, publicKeyPEM: pem)
      } catch {
        throw .notAPublicKey(version: publicKeyVersion)
      }
    }
  }

  private var pem: String {
    guard let der = Data(base64Encoded: publicKey) else { return publicKey }
    let lines = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN PUBLIC KEY-----\n\(lines)\n-----END PUBLIC KEY-----\n"
  }
}
