import KeyServerAPI

/// An upload in the words of Google's contract: `POST /v1/publish`.
///
/// A wire type of the bench's own, so that what it sends does not change with the server.
struct PublishBody: Encodable {
  let temporaryExposureKeys: [UploadKey]
  let healthAuthorityID: String
  /// The certificate, a JWT.
  let verificationPayload: String
  /// Base64 of the secret of the HMAC.
  let hmacKey: String
  let symptomOnsetInterval: UInt32
  let traveler = false
  let revisionToken = ""
  let padding: String
}
