import Foundation
import Logging
import Synchronization
import UploadToken

/// Whose upload tokens are taken: the public keys of their issuer, read anew whenever the register is.
///
/// Documentation/KeyServer.md 8.5. What cannot be read changes nothing: the keys that were there stay good.
final class TokenKeyDesk: Sendable {
  private let configuration: KeyServerConfiguration
  private let logger: Logger
  private let latest: Mutex<ConfiguredRegister>

  /// - Throws: `KeyServerError.configuration` where the keys of the configuration are none.
  init(_ configuration: KeyServerConfiguration, logger: Logger) throws(KeyServerError) {
    self.configuration = configuration
    self.logger = logger
    do {
      latest = Mutex(
        try Self.configured(configuration, tokenKeys: configuration.tokenPublicKeysPEM))
    } catch {
      throw .configuration("tokenPublicKeysPEM must hold P-256 public keys.")
    }
  }

  /// What the configuration says of apps and authorities, with the keys that are known now.
  func configured() -> ConfiguredRegister {
    guard let read = configuration.readTokenPublicKeysPEM else { return latest.withLock { $0 } }
    do {
      let keys = try read()
      guard !keys.isEmpty else { throw SigningKeysError.noKey }
      let new = try Self.configured(configuration, tokenKeys: keys)
      latest.withLock { $0 = new }
    } catch {
      logger.warning(
        "the public keys of tokens could not be read; those that were known stay good",
        metadata: ["kind": "\(type(of: error))"])
    }
    return latest.withLock { $0 }
  }

  private static func configured(
    _ configuration: KeyServerConfiguration, tokenKeys: [String: String]
  ) throws -> ConfiguredRegister {
    ConfiguredRegister(
      entries: configuration.registerEntries(tokenKeys),
      tokens: try UploadTokenVerifier(
        issuer: configuration.tokenIssuer, audience: configuration.tokenAudience,
        publicKeysPEM: tokenKeys))
  }
}
