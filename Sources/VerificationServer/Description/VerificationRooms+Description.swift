import QuietHTTP
import VerificationAPI

extension VerificationRooms {
  /// The description of the server, served at /openapi.json.
  static let description = OpenAPIDocument(
    title: "Firebreak verification server", version: "1",
    operations: seedOperations + deviceOperations + adminOperations + [
      keysOperation, keyListOperation,
    ])

  private static let keysOperation = OpenAPIOperation(
    .get, VerificationRoute.keys, "The public keys of tokens and certificates (RFC 7517).",
    answers: [.init(200, "The keys, in overlap.", .object(["keys": keyList], required: ["keys"]))])

  private static let keyListOperation = OpenAPIOperation(
    .get, VerificationRoute.keyList, "The same as a bare list, as Google's key server reads it.",
    answers: [.init(200, "The keys, in overlap.", keyList)])

  private static let keyList = JSONSchema.array(
    of: .object(
      [
        "kty": .string("The kind of key.", oneOf: ["EC"]),
        "crv": .string("The curve.", oneOf: ["P-256"]),
        "x": .string("A coordinate, base64url."), "y": .string("The other."),
        "kid": .string("The id in the header of what it signed."),
        "alg": .string("The algorithm.", oneOf: ["ES256"]),
        "use": .string("What for.", oneOf: ["sig"]),
      ], required: ["kty", "crv", "x", "y", "kid"]), "Oldest first.")
}
