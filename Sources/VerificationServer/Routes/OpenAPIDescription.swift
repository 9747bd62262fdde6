import CallableEnvelope
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

extension VerificationRooms {
  static let seedOperations = [
    OpenAPIOperation(
      .post, VerificationRoute.generateCode, "A new PIN.",
      credentialHeader: VerificationRoute.apiTokenHeader,
      request: asked([
        "testType": .string("What was found.", oneOf: ["confirmed"]), "symptomDate": day,
      ]),
      answers: [answered(pin)] + refusals([400, 403, 408, 413, 415, 429, 500, 503])),
    OpenAPIOperation(
      .post, VerificationRoute.generateCodesBatch, "Many new PINs.",
      credentialHeader: VerificationRoute.apiTokenHeader,
      request: asked([
        "duration": .integer("1800, or whole hours up to a day, in seconds.", 1_800...86_400),
        "numberOfCodes": .integer("How many.", VerificationLimit.batchCodes),
      ]),
      answers: [answered(.array(of: pin, "The PINs.", count: VerificationLimit.batchCodes))]
        + refusals([400, 403, 408, 413, 415, 429, 500, 503])),
    OpenAPIOperation(
      .post, VerificationRoute.accessToken, "A PIN for an upload token.",
      request: asked([
        "code": pin, "ekeyhmac": .string("Base64 of HMAC-SHA256 over the keys, 32 bytes."),
      ]),
      answers: [
        answered(.object(["accessToken": .string("The token.")], required: ["accessToken"]))
      ] + refusals([400, 403, 404, 408, 413, 415, 429, 500, 503])),
  ]

  private static let pin = JSONSchema.string(
    "Six characters, a digit and a letter among them.", pattern: "^[0-9A-Z]{6}$")

  static let day = JSONSchema.string(
    "A day in UTC, or empty.", pattern: "^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")

  private static func asked(_ fields: [String: JSONSchema]) -> JSONSchema {
    .object(
      ["data": .object(fields, allowsOthers: true), "padding": .padding], allowsOthers: true)
  }

  private static func answered(_ result: JSONSchema) -> OpenAPIOperation.Answer {
    .init(
      200, "Done.",
      .object(["result": result, "padding": .padding], required: ["result", "padding"]))
  }

  private static func refusals(_ statuses: [Int]) -> [OpenAPIOperation.Answer] {
    let schema = JSONSchema.object(
      [
        "error": .object(
          [
            "message": .string("One sentence."),
            "status": .string("For a program.", oneOf: CallableStatus.allCases.map(\.rawValue)),
          ], required: ["message", "status"]), "padding": .padding,
      ], required: ["error", "padding"])
    return statuses.map { .init($0, "Refused.", schema) }
  }
}

extension VerificationRooms {
  static let deviceOperations = [
    google(
      VerificationRoute.verify, "A code for a verification token; device key.",
      request: [
        "code": .string("The short or the long code, or a PIN."),
        "accept": .array(
          of: .string("A kind of test.", oneOf: types), "What the app can deal with; empty: all."),
        "nonce": .string("Base64; of 256 bytes for a user report."),
      ],
      answer: [
        "testtype": .string("The kind of test.", oneOf: types), "symptomDate": day,
        "testDate": day, "token": .string("The verification token."),
      ], required: ["testtype", "token"], refusals: [412]),
    google(
      VerificationRoute.certificate, "A verification token for a certificate; device key.",
      request: [
        "token": .string("The verification token."),
        "ekeyhmac": .string("Base64 of HMAC-SHA256 over the keys, 32 bytes."),
      ],
      answer: ["certificate": .string("The certificate.")], required: ["certificate"]),
    google(
      VerificationRoute.userReport, "A code by SMS for a test of one's own; device key.",
      request: [
        "symptomDate": day, "testDate": day, "tzOffset": minutes, "phone": phone,
        "nonce": .string("Base64 of 256 random bytes."),
      ],
      answer: ["expiresAt": rfc1123, "expiresAtTimestamp": seconds],
      required: ["expiresAt", "expiresAtTimestamp"]),
  ]

  static let adminOperations = [
    google(
      VerificationRoute.issue, "A new code; admin key.", request: order, answer: issued,
      required: issuedAlways, refusals: [409]),
    google(
      VerificationRoute.batchIssue, "Up to ten new codes; admin key.",
      request: [
        "codes": .array(
          of: .object(order.merging(["padding": .padding]) { $1 }), "The orders.",
          count: 1...VerificationLimit.batchIssueCodesMax)
      ],
      answer: batch, required: ["codes"], refusals: [409],
      refusal: .object(
        batch.merging(failure) { $1 }.merging(["padding": .padding]) { $1 },
        required: ["error", "errorCode", "padding"])),
    google(
      VerificationRoute.checkCodeStatus, "What became of a code; admin key.",
      request: ["uuid": uuid],
      answer: [
        "claimed": .boolean("Whether it was used."), "expiresAtTimestamp": seconds,
        "longExpiresAtTimestamp": seconds,
      ], required: ["claimed", "expiresAtTimestamp"], refusals: [404]),
    google(
      VerificationRoute.expireCode, "Ends a code; admin key.", request: ["uuid": uuid],
      answer: ["expiresAtTimestamp": seconds, "longExpiresAtTimestamp": seconds],
      required: ["expiresAtTimestamp"], refusals: [404]),
  ]

  private static let types = TestType.allCases.map(\.rawValue)
  private static let uuid = JSONSchema.string("The name of a code, a UUID.")
  private static let phone = JSONSchema.string("+ and 8 to 15 digits (E.164).")
  private static let seconds = JSONSchema.integer("Unix seconds.")
  private static let rfc1123 = JSONSchema.string("As RFC 1123 writes it, in UTC.")
  private static let minutes = JSONSchema.integer("Minutes ahead of UTC.", -840...840)

  private static let order: [String: JSONSchema] = [
    "symptomDate": day, "testDate": day, "testType": .string("The kind of test.", oneOf: types),
    "tzOffset": minutes, "phone": phone, "smsTemplateLabel": .string("Which text to send."),
    "uuid": uuid, "externalIssuerID": .string("Whoever is behind the asker."),
    "onlyGenerateSMS": .boolean("Whether the SMS is only to be written."),
  ]

  private static let issued: [String: JSONSchema] = [
    "uuid": uuid, "code": .string("The short code.", pattern: "^[0-9]{6,10}$"),
    "expiresAt": rfc1123, "expiresAtTimestamp": seconds, "longExpiresAt": rfc1123,
    "longExpiresAtTimestamp": seconds, "generatedSMS": .string("The SMS, where it was written."),
    "phone": phone,
  ]

  private static let issuedAlways = ["uuid", "code", "expiresAt", "expiresAtTimestamp"]

  private static let batch: [String: JSONSchema] = [
    "codes": .array(of: .object(issued.merging(failure) { $1 }), "What became of each."),
    "error": .string("The first refusal among them."),
    "errorCode": .string("The same for a program.", oneOf: codes),
  ]

  private static let codes = VerificationErrorCode.allCases.map(\.rawValue)

  private static let failure: [String: JSONSchema] = [
    "error": .string("One sentence."), "errorCode": .string("For a program.", oneOf: codes),
    "error_code": .string("An older name of errorCode.", oneOf: codes),
  ]

  private static func google(
    _ path: String, _ summary: String, request: [String: JSONSchema],
    answer: [String: JSONSchema], required: [String], refusals: [Int] = [],
    refusal: JSONSchema? = nil
  ) -> OpenAPIOperation {
    let padding = ["padding": JSONSchema.padding]
    let refused =
      refusal
      ?? .object(
        failure.merging(padding) { $1 }, required: failure.keys.sorted() + ["padding"])
    let answered = JSONSchema.object(
      answer.merging(padding) { $1 }, required: required + ["padding"])
    return OpenAPIOperation(
      .post, path, summary, credentialHeader: VerificationRoute.apiKeyHeader,
      request: .object(request.merging(padding) { $1 }),
      answers: [.init(200, "Done.", answered)]
        + ([400, 401, 408, 413, 415, 429, 500, 503] + refusals).map {
          .init($0, "Refused.", refused)
        })
  }
}
