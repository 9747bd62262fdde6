// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import QuietHTTP
import VerificationAPI

/// The OpenAPI description of the server.
enum VerificationDescription {
  /// The document at /openapi.json.
  static let document = OpenAPIDocument(
    title: "Firebreak verification server", version: "1",
    operations: proteGOSafeOperations + deviceOperations + adminOperations + [
      keysOperation, keyListOperation,
    ] + StatisticsDescription.operations)

  private static let keysOperation = OpenAPIOperation(
    .get, VerificationRoute.keys, "The public keys of tokens and certificates (RFC 7517).",
    responses: [
      .init(
        200, "The current keys; old and new keys overlap.",
        .object(["keys": keyList], required: ["keys"]))
    ])

  private static let keyListOperation = OpenAPIOperation(
    .get, VerificationRoute.keyList,
    "The same keys as a bare list, the form that Google's key server reads.",
    responses: [.init(200, "The current keys; old and new keys overlap.", keyList)])

  private static let keyList = JSONSchema.array(
    of: .object(
      [
        "kty": .string("The kind of key.", oneOf: ["EC"]),
        "crv": .string("The curve.", oneOf: ["P-256"]),
        "x": .string("The x coordinate, base64url."), "y": .string("The y coordinate, base64url."),
        "kid": .string("The key ID in the header of signed tokens."),
        "alg": .string("The algorithm.", oneOf: ["ES256"]),
        "use": .string("The use of the key.", oneOf: ["sig"]),
      ], required: ["kty", "crv", "x", "y", "kid"]), "Oldest first.")

  private static let proteGOSafeOperations = [
    OpenAPIOperation(
      .post, VerificationRoute.generateCode, "A new PIN.",
      credentialHeader: VerificationRoute.apiTokenHeader,
      request: payload([
        "testType": .string("The kind of test.", oneOf: ["confirmed"]), "symptomDate": day,
      ]),
      responses: [success(pin)] + errors([400, 403, 408, 413, 415, 429, 500, 503])),
    OpenAPIOperation(
      .post, VerificationRoute.generateCodesBatch, "Many new PINs.",
      credentialHeader: VerificationRoute.apiTokenHeader,
      request: payload([
        "duration": .integer(
          "The lifetime in seconds: 1800, or whole hours up to a day.", 1_800...86_400),
        "numberOfCodes": .integer("The number of PINs.", VerificationLimit.batchCodes),
      ]),
      responses: [success(.array(of: pin, "The PINs.", count: VerificationLimit.batchCodes))]
        + errors([400, 403, 408, 413, 415, 429, 500, 503])),
    OpenAPIOperation(
      .post, VerificationRoute.accessToken, "Exchanges a PIN for an upload token.",
      request: payload([
        "code": pin, "ekeyhmac": .string("Base64 of HMAC-SHA256 over the keys, 32 bytes."),
        "wantsFollowUp": .boolean("True to get a permit for the keys of the following days."),
        "followUp": .string("A permit, in place of the code; ekeyhmac is required then."),
      ]),
      responses: [
        success(
          .object(
            [
              "accessToken": .string("The token."),
              "followUp": .string("The permit, if it was requested with a code."),
            ], required: ["accessToken"]))
      ] + errors([400, 403, 404, 408, 413, 415, 429, 500, 503])),
  ]

  private static let pin = JSONSchema.string(
    "Six to ten characters, at least one digit and one letter.",
    pattern: "^[0-9A-Z]{6,10}$")

  private static let day = JSONSchema.string(
    "A day in UTC, or empty.", pattern: "^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")

  private static func payload(_ fields: [String: JSONSchema]) -> JSONSchema {
    .object(
      ["data": .object(fields, allowsOthers: true), "padding": .padding], allowsOthers: true)
  }

  private static func success(_ result: JSONSchema) -> OpenAPIOperation.Response {
    .init(
      200, "Success.",
      .object(["result": result, "padding": .padding], required: ["result", "padding"]))
  }

  private static func errors(_ statuses: [Int]) -> [OpenAPIOperation.Response] {
    let schema = JSONSchema.object(
      [
        "error": .object(
          [
            "message": .string("The error for developers."),
            "status": .string(
              "The error for programs.", oneOf: CallableStatus.allCases.map(\.rawValue)),
          ], required: ["message", "status"]), "padding": .padding,
      ], required: ["error", "padding"])
    return statuses.map { .init($0, "An error.", schema) }
  }

  private static let deviceOperations = [
    google(
      VerificationRoute.verify, "Exchanges a code for a verification token; device key.",
      request: [
        "code": .string("The short or the long code, or a PIN."),
        "accept": .array(
          of: .string("A kind of test.", oneOf: types),
          "The kinds of test that the app supports; empty: all."),
        "nonce": .string("Base64; 256 bytes for the code of a user report."),
      ],
      response: [
        "testtype": .string("The kind of test.", oneOf: types), "symptomDate": day,
        "testDate": day, "token": .string("The verification token."),
      ], required: ["testtype", "token"], refusals: [412]),
    google(
      VerificationRoute.certificate,
      "Exchanges a verification token for a certificate; device key.",
      request: [
        "token": .string("The verification token."),
        "ekeyhmac": .string("Base64 of HMAC-SHA256 over the keys, 32 bytes."),
      ],
      response: ["certificate": .string("The certificate.")], required: ["certificate"]),
    google(
      VerificationRoute.userReport, "Sends a code by SMS for a user report; device key.",
      request: [
        "symptomDate": day, "testDate": day, "tzOffset": minutes, "phone": phone,
        "nonce": .string("Base64 of 256 random bytes."),
      ],
      response: ["expiresAt": rfc1123, "expiresAtTimestamp": seconds],
      required: ["expiresAt", "expiresAtTimestamp"]),
  ]

  private static let adminOperations = [
    google(
      VerificationRoute.issue, "A new code; admin key.", request: issueRequest, response: issued,
      required: issuedRequired, refusals: [409]),
    google(
      VerificationRoute.batchIssue, "Up to ten new codes; admin key.",
      request: [
        "codes": .array(
          of: .object(issueRequest.merging(["padding": .padding]) { $1 }), "The requested codes.",
          count: 1...VerificationLimit.batchIssueCodesMax)
      ],
      response: batch, required: ["codes"], refusals: [409],
      refusal: .object(
        batch.merging(failure) { $1 }.merging(["padding": .padding]) { $1 },
        required: ["error", "errorCode", "padding"])),
    google(
      VerificationRoute.checkCodeStatus, "The status of a code; admin key.",
      request: ["uuid": uuid],
      response: [
        "claimed": .boolean("True if the code was used."), "expiresAtTimestamp": seconds,
        "longExpiresAtTimestamp": seconds,
      ], required: ["claimed", "expiresAtTimestamp"], refusals: [404]),
    google(
      VerificationRoute.expireCode, "Ends a code; admin key.", request: ["uuid": uuid],
      response: ["expiresAtTimestamp": seconds, "longExpiresAtTimestamp": seconds],
      required: ["expiresAtTimestamp"], refusals: [404]),
    google(
      VerificationRoute.freePhone, "Allows a phone a new user report; admin key.",
      request: ["phone": phone], response: [:], required: []),
  ]

  private static let types = TestType.allCases.map(\.rawValue)
  private static let uuid = JSONSchema.string("The UUID of a code.")
  private static let phone = JSONSchema.string("+ and 8 to 15 digits (E.164).")
  private static let seconds = JSONSchema.integer("Unix seconds.")
  private static let rfc1123 = JSONSchema.string("A date in the form of RFC 1123, in UTC.")
  private static let minutes = JSONSchema.integer("Minutes ahead of UTC.", -840...840)

  private static let issueRequest: [String: JSONSchema] = [
    "symptomDate": day, "testDate": day, "testType": .string("The kind of test.", oneOf: types),
    "tzOffset": minutes, "phone": phone,
    "smsTemplateLabel": .string("The label of the SMS template."),
    "uuid": uuid, "externalIssuerID": .string("The client's name for the issuer."),
    "onlyGenerateSMS": .boolean("True if the server returns the SMS instead of sending it."),
    "codeForm": .string("The form of the code; short by default.", oneOf: ["short", "pin"]),
  ]

  private static let issued: [String: JSONSchema] = [
    "uuid": uuid, "code": .string("The short code or the PIN.", pattern: "^[0-9A-Z]{6,11}$"),
    "expiresAt": rfc1123, "expiresAtTimestamp": seconds, "longExpiresAt": rfc1123,
    "longExpiresAtTimestamp": seconds,
    "generatedSMS": .string("The text of the SMS if onlyGenerateSMS is set."),
    "phone": phone,
  ]

  private static let issuedRequired = ["uuid", "code", "expiresAt", "expiresAtTimestamp"]

  private static let batch: [String: JSONSchema] = [
    "codes": .array(
      of: .object(issued.merging(failure) { $1 }), "A code or an error for each requested code."),
    "error": .string("The first error in codes."),
    "errorCode": .string("The code of the first error.", oneOf: codes),
  ]

  private static let codes = VerificationErrorCode.allCases.map(\.rawValue)

  private static let failure: [String: JSONSchema] = [
    "error": .string("The error for developers."),
    "errorCode": .string("The error for programs.", oneOf: codes),
    "error_code": .string("An older name of errorCode.", oneOf: codes),
  ]

  /// The body of an error of Google's contract.
  static var googleFailure: JSONSchema {
    .object(
      failure.merging(["padding": .padding]) { $1 }, required: failure.keys.sorted() + ["padding"])
  }

  private static func google(
    _ path: String, _ summary: String, request: [String: JSONSchema],
    response: [String: JSONSchema], required: [String], refusals: [Int] = [],
    refusal: JSONSchema? = nil
  ) -> OpenAPIOperation {
    let padding = ["padding": JSONSchema.padding]
    let refused = refusal ?? googleFailure
    let answered = JSONSchema.object(
      response.merging(padding) { $1 }, required: required + ["padding"])
    return OpenAPIOperation(
      .post, path, summary, credentialHeader: VerificationRoute.apiKeyHeader,
      request: .object(request.merging(padding) { $1 }),
      responses: [.init(200, "Success.", answered)]
        + ([400, 401, 408, 413, 415, 429, 500, 503] + refusals).map {
          .init($0, "An error.", refused)
        })
  }
}
