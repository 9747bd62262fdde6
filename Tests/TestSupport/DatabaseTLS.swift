// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The port and the certificate of a PostgreSQL server of tests that accepts connections with TLS on the loopback
/// interface.
public struct DatabaseTLS: Sendable {
  /// The name in the certificate. No resolver has to know it.
  public let name: String
  public let port: Int
  /// The certificate, which is its own authority.
  public let certificate: URL
  /// The private key.
  let key: URL
  private let isOffered: Bool

  /// Creates a certificate and chooses a free port.
  init(name: String, isOffered: Bool, in folder: TemporaryFolder) async throws {
    (self.name, self.isOffered) = (name, isOffered)
    port = try UnusedPort.find()
    (certificate, key) = (folder.path("server.crt"), folder.path("server.key"))
    let made = try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", key.path,
        "-out", certificate.path,
      ])
    guard made.status == 0, chmod(key.path, 0o600) == 0 else {
      throw Failure(description: "openssl: \(made.errors)")
    }
  }

  /// The settings of the server.
  var settings: [String] {
    [
      "listen_addresses=127.0.0.1", "port=\(port)", "ssl=\(isOffered ? "on" : "off")",
      "ssl_cert_file=\(certificate.path)", "ssl_key_file=\(key.path)",
    ]
  }

  /// The parameters of libpq for a connection that verifies the certificate and its name.
  ///
  /// - Parameters:
  ///   - root: The file of the authorities; nil for the certificate of the server.
  ///   - name: The name that the certificate must have; nil for its own.
  public func address(root: URL? = nil, name: String? = nil) -> String {
    "host=\(name ?? self.name) hostaddr=127.0.0.1 port=\(port) user=postgres sslmode=verify-full"
      + " sslrootcert=\((root ?? certificate).path)"
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
