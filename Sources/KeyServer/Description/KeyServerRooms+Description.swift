import CallableEnvelope
import KeyServerAPI
import QuietHTTP

extension KeyServerRooms {
  /// The description of a server with exports under `roots`, served at /openapi.json.
  static func description(roots: [String]) -> OpenAPIDocument {
    OpenAPIDocument(
      title: "Firebreak key server", version: "1",
      operations: [uploadOperation, publishOperation, statisticsOperation] + pages
        + downloads(roots: roots))
  }

  private static let uploadOperation = OpenAPIOperation(
    .post, KeyServerRoute.upload, "Takes the keys of a diagnosed person; the seed contract.",
    request: .object(
      [
        "data": .object(
          [
            "temporaryExposureKeys": keys, "regions": .array(of: region, "Where the keys count."),
            "platform": .string("The kind of phone."), "appPackageName": .string("The app."),
            "verificationPayload": .string("The upload token."),
            "hmackey": .string("Base64 of the secret of the HMAC."),
            "deviceVerificationPayload": .string("Base64 of the proof of a genuine device."),
          ],
          required: ["temporaryExposureKeys", "regions", "platform", "appPackageName"],
          allowsOthers: true), "isInteroperabilityEnabled": .boolean("Whether the keys travel."),
        "padding": .padding,
      ], required: ["data"], allowsOthers: true),
    answers: [
      .init(
        200, "The keys are in.",
        .object(
          ["result": .string("Empty."), "padding": .padding], required: ["result", "padding"]))
    ]
      + [400, 401, 403, 408, 413, 415, 429, 500, 503].map {
        .init($0, "Refused.", callableRefusal)
      })

  private static let publishOperation = OpenAPIOperation(
    .post, KeyServerRoute.publish, "Takes the keys of a diagnosed person; Google's contract.",
    request: .object(
      [
        "temporaryExposureKeys": keys, "healthAuthorityID": .string("The app."),
        "verificationPayload": .string("The certificate."),
        "hmacKey": .string("Base64 of the secret of the HMAC."),
        "symptomOnsetInterval": .integer("When symptoms began, in ten-minute intervals."),
        "traveler": .boolean("Whether the person was in other regions."),
        "revisionToken": .string("What the last answer said."), "padding": .padding,
      ], required: ["temporaryExposureKeys", "healthAuthorityID"]),
    answers: [200, 400, 401, 408, 413, 415, 429, 500, 503].map {
      .init(
        $0, $0 == 200 ? "The keys are in, but for those that were dropped." : "Refused.", published)
    })

  private static let statisticsOperation = OpenAPIOperation(
    .post, KeyServerRoute.statistics, "Counts of the uploads of the authority that asks.",
    credentialHeader: "Authorization", request: .object(["padding": .padding]),
    answers: [200, 400, 401, 408, 413, 415, 429, 500, 503].map {
      .init($0, $0 == 200 ? shownDays : "Refused.", statistics)
    })

  private static let shownDays =
    "The days that may be shown: of at least \(KeyServerLimit.statisticsUploadsMin) uploads, and ended"
    + " long enough ago, 48 hours unless the server is set up otherwise."

  private static let pages = [
    OpenAPIOperation(
      .get, KeyServerRoute.publish, "Always refused: a publish is a POST.",
      answers: [.init(415, "Refused.", published)])
  ]

  private static let region = JSONSchema.string("A country.", pattern: "^[A-Za-z]{2}$")

  private static let keys = JSONSchema.array(
    of: .object(
      [
        "key": .string("Base64 of 16 bytes."),
        "rollingStartNumber": .integer("The first ten-minute interval."),
        "rollingPeriod": .integer("How many intervals, 1 to 144."),
        "transmissionRisk": .integer("The risk level, 0 to 8."),
      ], required: ["key", "rollingStartNumber", "rollingPeriod"]), "The keys.",
    count: UploadLimit.keyCount)

  private static let code = JSONSchema.string(
    "What went wrong, for a program.", oneOf: PublishCode.allCases.map(\.rawValue))

  private static let published = JSONSchema.object(
    [
      "revisionToken": .string("To be sent with the next upload."),
      "insertedExposures": .integer("Keys that are in now.", 0...UploadLimit.keyCount.upperBound),
      "error": .string("One sentence."), "code": code,
      "warnings": .array(of: .string("One sentence."), "What the phone may tell its maker."),
      "padding": .padding,
    ], required: ["padding"])

  static let callableRefusal = JSONSchema.object(
    [
      "error": .object(
        [
          "message": .string("One sentence."),
          "status": .string("For a program.", oneOf: CallableStatus.allCases.map(\.rawValue)),
        ], required: ["message", "status"]), "padding": .padding,
    ], required: ["error", "padding"])

  private static let statistics = JSONSchema.object(
    [
      "days": .array(of: day, "Oldest first."), "error": .string("One sentence."), "code": code,
      "padding": .padding,
    ], required: ["padding"])

  private static let day = JSONSchema.object(
    [
      "day": .string("The first moment of the day, RFC 3339."),
      "publish_requests": .object(
        ["unknown": count, "android": count, "ios": count], required: ["unknown", "android", "ios"]),
      "total_teks_published": count, "requests_with_revisions": count,
      "tek_age_distribution": .array(of: count, "By days, 0 to 15.", count: 16...16),
      "onset_to_upload_distribution": .array(of: count, "By days, 0 to 29.", count: 30...30),
      "requests_missing_onset_date": count,
    ], required: ["day", "publish_requests", "total_teks_published"])

  private static let count = JSONSchema.integer("How many.")
}
