import UploadToken

/// Whatever signs tokens. The server uses `UploadTokenIssuer`; a key kept in hardware may fail.
protocol TokenSigning: Sendable {
  /// The token that says `grant`.
  func token(for grant: UploadGrant) async throws -> String
}

extension UploadTokenIssuer: TokenSigning {}
