import Foundation

/// A server that takes uploads, and who may send it some.
struct PublishTarget: Sendable {
  let host: String
  let port: Int
  /// Where uploads go, with the path of the server's own address in front.
  let path: String
  /// `iss` of the certificates, which the server has to know.
  let issuer: String
  /// `aud` of the certificates.
  let audience: String
  /// `kid` of the certificates.
  let keyID: String
  /// The authority's P-256 private key in PEM: it signs the certificates.
  let signingKeyPEM: String
  /// `healthAuthorityID`: the application that uploads.
  let application: String

  static let publish = "/v1/publish"

  /// A server at `url`, which is its address without the path of uploads.
  init(
    url: String, issuer: String, audience: String, keyID: String, signingKeyPEM: String,
    application: String
  ) throws {
    guard let address = URLComponents(string: url), let host = address.host, !host.isEmpty,
      address.query == nil, address.fragment == nil
    else {
      throw CommandFailure.badInput("--target takes an address such as http://127.0.0.1:8080.")
    }
    guard address.scheme == "http" else {
      throw CommandFailure.badInput(
        "--target takes an http address: measure behind the TLS of a server.")
    }
    let prefix = address.path.hasSuffix("/") ? String(address.path.dropLast()) : address.path
    self.host = host
    port = address.port ?? 80
    path = prefix.hasSuffix(Self.publish) ? prefix : prefix + Self.publish
    self.issuer = issuer
    self.audience = audience
    self.keyID = keyID
    self.signingKeyPEM = signingKeyPEM
    self.application = application
  }

  /// As the header `Host` has it.
  var hostField: String { "\(host):\(port)" }
}

extension PublishTarget: CustomStringConvertible, CustomReflectable {
  /// Without the key that signs.
  var description: String { "PublishTarget(\(hostField))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
