// SPDX-License-Identifier: Apache-2.0
import QuietHTTP
import VerificationAPI

/// The OpenAPI description of the statistics, in `VerificationDescription`.
enum StatisticsDescription {
  static let operations: [OpenAPIOperation] =
    [
      statistics(VerificationRoute.statistics, "The numbers of codes by day", of: statisticsDay),
      statistics(
        VerificationRoute.userStatistics, "The codes issued by officials of the console",
        of: issuerDay(["name": .string("The official.")])),
      statistics(
        VerificationRoute.externalIssuerStatistics, "The codes issued by external issuers",
        of: issuerDay(["issuer_id": .string("The externalIssuerID of the requests.")])),
      statistics(
        VerificationRoute.apiKeysStatistics, "The codes issued and entered with API keys",
        of: issuerDay(apiKey.merging(attempts) { $1 })),
      statistics(
        VerificationRoute.smsErrorStatistics, "The errors of the SMS gateway by day", of: errorDay),
    ].flatMap(\.self) + [ofOneKey]

  private static let ofOneKey = OpenAPIOperation(
    .get, VerificationRoute.apiKeyStatistics,
    "The codes issued and entered with one API key: its ID with .json or .csv; stats or admin key.",
    credentialHeader: VerificationRoute.apiKeyHeader,
    responses: [
      .init(
        200, "The days, newest first.",
        content: ["application/json": days(of: keyDay, apiKey, apiKey.keys.sorted()), csvType: csv])
    ] + refusals([401, 404, 429, 503]))

  private static let keyDay = JSONSchema.object(
    [
      "date": midnight,
      "data": .object(
        issuedCount.merging(attempts) { $1 },
        required: ["codes_issued"] + attempts.keys.sorted()),
    ], required: ["date", "data"])

  private static let attempts: [String: JSONSchema] = [
    "codes_claimed": .integer("The codes that apps exchanged for a token, rounded down."),
    "codes_invalid": invalidCodes,
    "tokens_claimed": .integer("The tokens that apps exchanged for a certificate, rounded down."),
    "tokens_invalid": invalidTokens,
  ]
  private static let invalidCodes = JSONSchema.integer(
    "The codes that apps entered and that were unknown, used or expired, rounded down.")
  private static let invalidTokens = JSONSchema.integer(
    "The tokens that were refused, rounded down.")

  private static func refusals(_ statuses: [Int]) -> [OpenAPIOperation.Response] {
    statuses.map { .init($0, "An error.", VerificationDescription.googleFailure) }
  }

  /// The descriptions of statistics as JSON and as CSV.
  private static func statistics(
    _ path: String, _ summary: String, of day: JSONSchema
  ) -> [OpenAPIOperation] {
    [
      (path, "application/json", days(of: day, ["realm_id": .integer("1.")], ["realm_id"])),
      (VerificationRoute.csv(of: path), csvType, csv),
    ].map { path, type, schema in
      OpenAPIOperation(
        .get, path, "\(summary); stats or admin key.",
        credentialHeader: VerificationRoute.apiKeyHeader,
        responses: [.init(200, "The days, newest first.", content: [type: schema])]
          + refusals([401, 429, 503]))
    }
  }

  private static let csvType = "text/csv"
  private static let csv = JSONSchema.string("RFC 4180; the first row has the names.")
  private static let midnight = JSONSchema.string("Midnight in UTC, RFC 3339.")

  private static let apiKey: [String: JSONSchema] = [
    "authorized_app_id": .string("The ID of the API key."),
    "authorized_app_name": .string("The name of its holder."),
    "authorized_app_type": .string("Its kind.", oneOf: APIKeyKind.allCases.map(\.rawValue)),
  ]

  private static let issuedCount: [String: JSONSchema] = [
    "codes_issued": .integer("The codes that were issued, rounded down.")
  ]

  private static func days(
    of day: JSONSchema, _ fields: [String: JSONSchema], _ required: [String]
  ) -> JSONSchema {
    .object(
      fields.merging(["statistics": .array(of: day, "The days."), "padding": .padding]) { $1 },
      required: required + ["statistics", "padding"])
  }

  private static func issuerDay(_ issuer: [String: JSONSchema]) -> JSONSchema {
    .object(
      [
        "date": midnight,
        "issuer_data": .array(
          of: .object(issuer.merging(issuedCount) { $1 }, required: ["codes_issued"]),
          "The issuers."),
      ], required: ["date", "issuer_data"])
  }

  private static let errorDay = JSONSchema.object(
    [
      "date": midnight,
      "error_data": .array(
        of: .object(
          [
            "error_code": .string("The code of the gateway, or the reason if it sent none."),
            "quantity": .integer("The number of errors, rounded down."),
          ], required: ["error_code", "quantity"]), "The errors."),
    ], required: ["date", "error_data"])

  private static func reports(_ fact: String) -> JSONSchema {
    .integer("The user reports \(fact), rounded down; absent before the day is over.")
  }

  private static let statisticsDay = JSONSchema.object(
    [
      "date": midnight,
      "data": .object(
        [
          "codes_issued": .integer("The codes that were issued."),
          "codes_claimed": .integer("The codes that were exchanged for a token."),
          // Absent before the day is over.
          "codes_invalid": invalidCodes, "tokens_invalid": invalidTokens,
          "codes_invalid_by_os": .object(
            ["unknown_os": invalidCodes, "ios": invalidCodes, "android": invalidCodes],
            required: ["unknown_os", "ios", "android"]),
          "tokens_claimed": .integer("The tokens that were exchanged for a certificate."),
          "user_reports_issued": reports("whose code was sent"),
          "user_reports_claimed": reports("whose code was exchanged"),
          "user_reports_invalid_nonce": reports("whose code was entered on another device"),
          "user_report_tokens_claimed": reports("whose token was exchanged"),
          "code_claim_age_distribution": .array(
            of: .integer("A number of codes."),
            "The used codes by their age: up to 1, 5, 15, 30 minutes, 1, 2, 3, 6, 12, 24 hours, and more.",
            count: (CodeCounts.ages.count + 1)...(CodeCounts.ages.count + 1)),
          "code_claim_mean_age_seconds": .integer("The mean age, in seconds."),
        ],
        required: [
          "codes_issued", "codes_claimed", "tokens_claimed", "code_claim_age_distribution",
          "code_claim_mean_age_seconds",
        ]),
    ], required: ["date", "data"])
}
