// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOSSL

/// The requirements on encrypted connections to servers: TLS 1.2 or later, and a certificate whose
/// subjectAltName has the name of the server.
enum ServerTrust {
  /// The settings of a client that trusts the certificates in the PEM file `authorities`; those of the system if it
  /// is nil.
  static func configuration(authorities: URL?) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    if let authorities { configuration.trustRoots = .file(authorities.path) }
    return configuration
  }

  /// Rejects a certificate without subjectAltName on a new connection.
  ///
  /// SwiftNIO SSL compares the name of the server with the common name then, which authorities do not check
  /// (RFC 9525, section 2).
  static func checkCertificate(of channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      // A connection without TLS, to this machine, has no handler.
      guard let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLHandler.self) else {
        return
      }
      guard let certificate = tls.peerCertificate, !certificate._subjectAlternativeNames().isEmpty
      else { throw NetworkFailure.certificate }
    }
  }
}

extension NetworkFailure {
  /// The failure for an error of a TLS handshake; nil for other errors.
  init?(ofHandshake error: any Error) {
    switch error {
    case NIOSSLError.handshakeFailed: self = .certificate
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      self = .certificate
    default: return nil
    }
  }
}
