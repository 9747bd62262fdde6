import JWTKit

/// The claims by which we tell the authority who asks.
struct DeviceCheckClaims: JWTPayload {
  /// The developer team.
  var iss: String
  /// Whole Unix seconds.
  var iat: Int64

  /// We only ever sign these.
  func verify(using algorithm: some JWTAlgorithm) async throws {}
}
