import Crypto
import Foundation

/// A developer team as DeviceCheck knows it: its id, and the public key its servers introduce
/// themselves with.
public struct DeviceCheckTeam: Sendable {
  /// How old an introduction may be, in seconds.
  static let introductionSecondsMax: TimeInterval = 1200

  private let id: String
  private let keyID: String
  private let publicKey: P256.Signing.PublicKey

  /// The team `id` whose key `keyID` has this public half, as PEM.
  ///
  /// - Throws: CryptoKit's error where the PEM is none.
  public init(id: String, keyID: String, publicKeyPEM: String) throws {
    self.id = id
    self.keyID = keyID
    publicKey = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
  }

  /// Whether `introduction`, a compact ES256 token, was signed by this team not long before `date`.
  func introduced(by introduction: String, at date: Date) -> Bool {
    let parts = introduction.split(separator: ".", omittingEmptySubsequences: false).map(
      String.init)
    guard parts.count == 3, let header: Header = decoded(parts[0]),
      let claims: Claims = decoded(parts[1]), let signature = Data(base64URL: parts[2]),
      header.alg == "ES256", header.kid == keyID, claims.iss == id,
      let ecdsa = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
    else { return false }
    let age = date.timeIntervalSince1970 - claims.iat
    return abs(age) <= Self.introductionSecondsMax
      && publicKey.isValidSignature(ecdsa, for: Data((parts[0] + "." + parts[1]).utf8))
  }

  private struct Header: Decodable {
    let alg: String
    let kid: String
  }

  private struct Claims: Decodable {
    let iss: String
    let iat: Double
  }

  private func decoded<Part: Decodable>(_ part: String) -> Part? {
    Data(base64URL: part).flatMap { try? JSONDecoder().decode(Part.self, from: $0) }
  }
}

extension Data {
  /// The bytes of a part of a compact token (RFC 7515, section 2).
  fileprivate init?(base64URL text: String) {
    let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(
      of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
    self.init(base64Encoded: standard + padding)
  }
}
