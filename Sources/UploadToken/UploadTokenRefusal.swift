// SPDX-License-Identifier: Apache-2.0
/// The reason why a token or certificate was rejected.
///
/// For logs and tests only: callers of the key server get the same 401 for all of them.
public enum UploadTokenRefusal: String, Error, Sendable, CaseIterable {
  /// Not a token, or a claim is missing or invalid.
  case malformed
  /// The key ID is missing or not trusted.
  case unknownKey
  /// The signature is invalid, or its algorithm is not ES256.
  case wrongSignature
  /// Another issuer issued it.
  case wrongIssuer
  /// It is for another server.
  case wrongAudience
  /// Not valid yet: the issuer's clock is ahead of ours.
  case notYetValid
  /// No longer valid.
  case expired
}
