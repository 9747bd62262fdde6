// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOSSL
import Secrets
import World

/// The certificate of a server and its private key, which fit together.
public struct TLSIdentity: Sendable, Redacted {
  /// A certificate or a key that cannot be used.
  public enum Invalid: Error {
    /// The text is not certificates in PEM, the server's own first.
    case certificate
    /// The text is not a private key in PEM without a passphrase.
    case key
    /// The key is not that of the first certificate.
    case mismatch
  }

  let configuration: TLSConfiguration
  /// The beginning of the validity of the server's certificate.
  public let validFrom: Date
  /// The end of the validity of the server's certificate.
  public let expiresAt: Date

  /// Reads both, and checks that they fit together.
  ///
  /// - Parameters:
  ///   - certificatePEM: The certificate of the server, then those between it and the root.
  ///   - privateKeyPEM: The private key, of RSA or an elliptic curve.
  public init(certificatePEM: String, privateKeyPEM: String) throws(Invalid) {
    // The errors of the library are numbers of OpenSSL.
    let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8))
    guard let certificates, let own = certificates.first else { throw .certificate }
    // As above.
    guard let key = try? NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem) else {
      throw .key
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    do { _ = try NIOSSLContext(configuration: configuration) } catch { throw .mismatch }
    self.configuration = configuration
    validFrom = Date(unixSecond: Int64(own.notValidBefore))
    expiresAt = Date(unixSecond: Int64(own.notValidAfter))
  }

  public var description: String { "TLSIdentity(until \(expiresAt))" }
}
