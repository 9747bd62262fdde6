// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import World

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
    let check = channel.eventLoop.submit {
      // A connection without TLS, to this machine, has no handler.
      guard let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLHandler.self) else {
        return
      }
      guard let certificate = tls.peerCertificate, !certificate._subjectAlternativeNames().isEmpty
      else { throw NetworkFailure.certificate }
    }
    return closing(channel, unless: check)
  }

  /// Closes a new connection whose check fails, because the HTTP library leaves it open.
  ///
  /// It is closed before the failure is reported: the library expects no end of a connection that it has given up.
  private static func closing(
    _ channel: any Channel, unless check: EventLoopFuture<Void>
  ) -> EventLoopFuture<Void> {
    check.flatMapError { error in
      channel.close(promise: nil)
      return channel.closeFuture.flatMapThrowing { throw error }
    }
  }

  /// The reason why the certificate of the server of `url` was rejected: `certificateOutOfDate` if it is not valid at
  /// `now`.
  ///
  /// The TLS library does not report the reason. A connection without verification reads the certificate, and is closed
  /// before anything is sent.
  static func rejection(
    of url: URL, at now: Date, withinSeconds seconds: Int64
  ) async -> NetworkFailure {
    var tls = configuration(authorities: nil)
    tls.certificateVerification = .none
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, timeout: .init(connect: .seconds(seconds)))
    configuration.connectionPool.retryConnectionEstablishment = false
    let reject = { @Sendable (channel: any Channel) in Self.reject(channel, at: now) }
    configuration.http1_1ConnectionDebugInitializer = reject
    configuration.http2ConnectionDebugInitializer = reject
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    var failure = NetworkFailure.certificate
    do {
      let request = HTTPClientRequest(url: url.absoluteString)
      _ = try await client.execute(request, deadline: .now() + .seconds(2 * seconds))
    } catch {
      failure = error as? NetworkFailure ?? failure
    }
    // The only error is that the client is closed already.
    try? await client.shutdown()
    return failure
  }

  /// Ends a new connection, with the reason for which its certificate is rejected.
  private static func reject(_ channel: any Channel, at now: Date) -> EventLoopFuture<Void> {
    let check: EventLoopFuture<Void> = channel.eventLoop.submit {
      let tls = try channel.pipeline.syncOperations.handler(type: NIOSSLHandler.self)
      guard let certificate = tls.peerCertificate else { throw NetworkFailure.certificate }
      let second = Int(now.unixSecond)
      let isValid = certificate.notValidBefore <= second && second <= certificate.notValidAfter
      throw isValid ? NetworkFailure.certificate : .certificateOutOfDate
    }
    return closing(channel, unless: check)
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
