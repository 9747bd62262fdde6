import Foundation

/// Who may certify that keys are to be published, and how its certificates are known.
///
/// Documentation/KeyServer.md 8.
public struct HealthAuthority: Hashable, Sendable {
  /// The `iss` of its certificates; names it.
  public var issuer: String
  /// The `aud` of its certificates: the name it knows this server by.
  public var audience: String
  /// Its public keys in PEM (P-256, SubjectPublicKeyInfo), by the id its certificates name them with.
  public var publicKeysPEM: [String: String]
  /// Where it publishes its keys; nil where they are given to us by hand.
  public var jwksURL: URL?
  /// Whether it may ask for the statistics of its own uploads.
  public var seesStatistics: Bool

  /// An authority that certifies.
  public init(
    issuer: String, audience: String, publicKeysPEM: [String: String] = [:], jwksURL: URL? = nil,
    seesStatistics: Bool = false
  ) {
    self.issuer = issuer
    self.audience = audience
    self.publicKeysPEM = publicKeysPEM
    self.jwksURL = jwksURL
    self.seesStatistics = seesStatistics
  }
}
