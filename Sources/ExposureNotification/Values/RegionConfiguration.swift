// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import TextEncodings

/// A device's region and the keys of its health authority.
public struct RegionConfiguration: Sendable {
  /// The region's code: ISO 3166-1 (`PL`) or 3166-2 (`US-CA`).
  public let region: String
  /// The keys of the region's authority; a key file must be signed by one of them.
  public let keys: [VerificationPublicKey]

  /// A region with these keys.
  public init(region: String, keys: [VerificationPublicKey]) {
    self.region = region
    self.keys = keys
  }

  /// True if a key file with this region in its header may be one of this region; then its signature decides.
  ///
  /// A file names its region by the ISO code of the country or state, which some servers write in lower case, or by the
  /// key identifier, as in Apple's example. If it names none, the signature alone decides.
  package func isNamed(_ name: String) -> Bool {
    let country = region.split(separator: "-").first.map(String.init) ?? region
    return name.isEmpty || [region, country].contains { $0.uppercased() == name.uppercased() }
      || keys.contains { $0.keyID == name }
  }

  /// Reads a region configuration from JSON: one object with Apple's field names, or a list of objects
  /// if the authority has several keys.
  ///
  /// - Throws: `RegionConfigurationError`.
  public init(json: Data) throws(RegionConfigurationError) {
    let stored = try StoredRegion.list(from: json)
    guard let first = stored.first, let region = first.region else { throw .noRegion }
    var keys: [VerificationPublicKey] = []
    for entry in stored {
      guard entry.region == region else { throw .severalRegions }
      keys.append(try entry.key)
    }
    self.init(region: region, keys: keys)
  }

  /// Reads a region configuration file.
  ///
  /// - Throws: `RegionConfigurationError`.
  public init(contentsOf file: URL) throws(RegionConfigurationError) {
    guard let json = FileManager.default.contents(atPath: file.path) else { throw .unreadable }
    try self.init(json: json)
  }
}

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
      let list = decoder.decodeIfValid([StoredRegion].self, from: json)
        ?? decoder.decodeIfValid(StoredRegion.self, from: json).map({ [$0] })
    else { throw .malformed }
    guard list.count <= keysMax else { throw .tooLarge }
    return list
  }

  /// The region's code; nil if the country is not two capital letters.
  var region: String? {
    let isCountry = countryCode.utf8.count == 2 && countryCode.utf8.allSatisfy { (65...90) ~= $0 }
    guard isCountry else { return nil }
    return state.map { $0.isEmpty ? countryCode : "\(countryCode)-\($0)" } ?? countryCode
  }

  /// The public key, from PEM or from base64 of its DER, which is Apple's form.
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
