import CallableEnvelope
import QuietHTTP
import VerificationAPI

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
