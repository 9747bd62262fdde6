import Crypto
import Foundation

/// The checks of the two ceremonies of passkeys (Web Authentication, sections 7.1 and 7.2): registration and sign-in.
///
/// Only ES256 is offered, which all authenticators support. Attestation is neither requested nor used, because the
/// console does not restrict the models of authenticators.
struct PasskeyCeremony: Sendable {
  /// The origin of the console, such as `https://console.example`.
  let origin: String
  /// The host name of the origin.
  let relyingPartyID: String
  let limits: PasskeyLimits

  /// Nil if the host name of `origin` cannot have passkeys: browsers require a name, not an address.
  init?(origin: String, limits: PasskeyLimits) {
    guard let host = URL(string: origin)?.host(), !host.isEmpty,
      !host.contains(":"), host.contains(where: \.isLetter)
    else { return nil }
    self.origin = origin
    relyingPartyID = host
    self.limits = limits
  }

  /// The response of an authenticator to a registration.
  struct Registration: Sendable {
    let clientData: Data
    let attestation: Data
  }

  /// The response of an authenticator to a sign-in.
  struct Assertion: Sendable {
    let credentialID: Data
    let clientData: Data
    let authenticatorData: Data
    let signature: Data
    /// The handle of the account.
    let userHandle: Data
  }

  /// A credential as it is stored.
  struct Credential: Hashable, Sendable {
    let id: Data
    /// The public key in X9.63 form.
    let publicKey: Data
    let signCount: UInt32
  }

  /// The new credential of a registration.
  ///
  /// - Parameter accepts: True if the challenge was issued for this account and not used before.
  func credential(
    _ registration: Registration, accepts: (Data) -> Bool
  ) throws(PasskeyRefusal) -> Credential {
    try check(registration.clientData, type: "webauthn.create", accepts: accepts)
    var reader = CBORReader(
      registration.attestation, depthMax: limits.cborDepthMax, itemsMax: limits.cborItemsMax)
    guard let object = try? reader.value(), reader.isAtEnd,
      let authenticatorData = object["authData"]?.data
    else { throw .malformed }
    let data = try checked(authenticatorData)
    guard let credential = data.credential else { throw .malformed }
    return Credential(
      id: credential.id, publicKey: credential.publicKey.x963Representation,
      signCount: data.signCount)
  }

  /// The credential with its new counter, after a sign-in with it.
  func credential(
    _ stored: Credential, after assertion: Assertion, accepts: (Data) -> Bool
  ) throws(PasskeyRefusal) -> Credential {
    try check(assertion.clientData, type: "webauthn.get", accepts: accepts)
    let data = try checked(assertion.authenticatorData)
    let signed = assertion.authenticatorData + Data(SHA256.hash(data: assertion.clientData))
    guard
      let key = try? P256.Signing.PublicKey(x963Representation: stored.publicKey),
      let signature = try? P256.Signing.ECDSASignature(derRepresentation: assertion.signature),
      key.isValidSignature(signature, for: signed)
    else { throw .badSignature }
    // Most passkeys have no signature counter.
    guard (data.signCount == 0 && stored.signCount == 0) || data.signCount > stored.signCount else {
      throw .copied
    }
    return Credential(id: stored.id, publicKey: stored.publicKey, signCount: data.signCount)
  }

  private struct ClientData: Decodable {
    let type: String
    let challenge: String
    let origin: String
    let crossOrigin: Bool?
  }

  private func check(
    _ clientData: Data, type: String, accepts: (Data) -> Bool
  ) throws(PasskeyRefusal) {
    guard let facts = try? JSONDecoder().decode(ClientData.self, from: clientData),
      let challenge = Data(base64URL: facts.challenge)
    else { throw .malformed }
    guard facts.type == type, facts.origin == origin, facts.crossOrigin != true, accepts(challenge)
    else { throw .ceremonyMismatch }
  }

  private func checked(_ bytes: Data) throws(PasskeyRefusal) -> AuthenticatorData {
    let data = try AuthenticatorData(bytes, limits: limits)
    guard data.relyingPartyHash == Data(SHA256.hash(data: Data(relyingPartyID.utf8))) else {
      throw .ceremonyMismatch
    }
    guard data.isUserPresent, data.isUserVerified else { throw .unverifiedUser }
    return data
  }
}

extension Data {
  /// The bytes of base64url without padding; nil if the text is not valid.
  init?(base64URL text: String) {
    guard !text.contains("+"), !text.contains("/"), !text.contains("=") else { return nil }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    self.init(base64Encoded: base64)
  }

  /// Base64url without padding.
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
      "=", with: "")
  }
}
