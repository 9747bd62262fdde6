// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import KeyServerAPI
import QuietHTTP

extension KeyServerComposition {
  /// The OpenAPI description of a server with exports under `roots`, served at `/openapi.json`.
  static func description(roots: [String]) -> OpenAPIDocument {
    OpenAPIDocument(
      title: "Firebreak key server", version: "1",
      operations: [uploadOperation, publishOperation, statisticsOperation] + pages
        + downloads(roots: roots))
  }

  private static let uploadOperation = OpenAPIOperation(
    .post, KeyServerRoute.upload, "Uploads the keys of a diagnosed user (ProteGO Safe contract).",
    request: .object(
      [
        "data": .object(
          [
            "temporaryExposureKeys": keys,
            "regions": .array(of: region, "The regions of the keys."),
            "platform": .string("The platform of the phone."),
            "appPackageName": .string("The ID of the app."),
            "verificationPayload": .string("The upload token."),
            "hmackey": .string("The secret of the HMAC in Base64."),
            "deviceVerificationPayload": .string("The device attestation in Base64."),
          ],
          required: ["temporaryExposureKeys", "regions", "platform", "appPackageName"],
          allowsOthers: true),
        "isInteroperabilityEnabled": .boolean(
          "True if the keys may be shared with other countries."),
        "padding": .padding,
      ], required: ["data"], allowsOthers: true),
    responses: [
      .init(
        200, "The keys were stored.",
        .object(
          [
            "result": .string("Always empty."),
            "warnings": .array(
              of: .string("The reason, for developers."), "Reasons why keys were dropped."),
            "padding": .padding,
          ], required: ["result", "padding"]))
    ]
      + [400, 401, 403, 408, 413, 415, 429, 500, 503].map {
        .init($0, "Rejected.", callableRefusal)
      })

  private static let publishOperation = OpenAPIOperation(
    .post, KeyServerRoute.publish, "Uploads the keys of a diagnosed user (Google's contract).",
    request: .object(
      [
        "temporaryExposureKeys": keys, "healthAuthorityID": .string("The ID of the app."),
        "verificationPayload": .string("The verification certificate."),
        "hmacKey": .string("The secret of the HMAC in Base64."),
        "symptomOnsetInterval": .integer("The onset of symptoms, in ten-minute intervals."),
        "traveler": .boolean("True if the user was in other regions."),
        "revisionToken": .string("The token of the last response."), "padding": .padding,
      ], required: ["temporaryExposureKeys", "healthAuthorityID"]),
    responses: [200, 400, 401, 408, 413, 415, 429, 500, 503].map {
      .init(
        $0, $0 == 200 ? "The keys were stored, except those that were dropped." : "Rejected.",
        published)
    })

  private static let statisticsOperation = OpenAPIOperation(
    .post, KeyServerRoute.statistics,
    "Returns statistics about the uploads of the calling authority.",
    credentialHeader: "Authorization", request: .object(["padding": .padding]),
    responses: [200, 400, 401, 408, 413, 415, 429, 500, 503].map {
      .init($0, $0 == 200 ? shownDays : "Rejected.", statistics)
    })

  private static let shownDays =
    "Days with at least \(KeyServerLimit.statisticsUploadsMin) uploads that ended long enough ago:"
    + " 48 hours, unless configured otherwise."

  private static let pages = [
    OpenAPIOperation(
      .get, KeyServerRoute.publish, "Always rejected; use POST.",
      responses: [.init(415, "Rejected.", published)])
  ]

  private static let region = JSONSchema.string("A country code.", pattern: "^[A-Za-z]{2}$")

  private static let keys = JSONSchema.array(
    of: .object(
      [
        "key": .string("16 bytes in Base64."),
        "rollingStartNumber": .integer("The first ten-minute interval."),
        "rollingPeriod": .integer("The number of intervals, 1 to 144."),
        "transmissionRisk": .integer("The risk level, 0 to 8."),
      ], required: ["key", "rollingStartNumber", "rollingPeriod"]), "The keys.",
    count: UploadLimit.keyCount)

  private static let code = JSONSchema.string(
    "The error code.", oneOf: PublishCode.allCases.map(\.rawValue))

  private static let published = JSONSchema.object(
    [
      "revisionToken": .string("The token to send with the next upload."),
      "insertedExposures": .integer(
        "The number of keys that were stored.", 0...UploadLimit.keyCount.upperBound),
      "error": .string("The reason, for developers."), "code": code,
      "warnings": .array(
        of: .string("The reason, for developers."), "Reasons why keys were dropped."),
      "padding": .padding,
    ], required: ["padding"])

  private static let callableRefusal = JSONSchema.object(
    [
      "error": .object(
        [
          "message": .string("The reason, for developers."),
          "status": .string("The error code.", oneOf: CallableStatus.allCases.map(\.rawValue)),
        ], required: ["message", "status"]), "padding": .padding,
    ], required: ["error", "padding"])

  private static let statistics = JSONSchema.object(
    [
      "days": .array(of: day, "Oldest first."), "error": .string("The reason, for developers."),
      "code": code,
      "padding": .padding,
    ], required: ["padding"])

  private static let day = JSONSchema.object(
    [
      "day": .string("The start of the day, RFC 3339."),
      "publish_requests": .object(
        ["unknown": count, "android": count, "ios": count], required: ["unknown", "android", "ios"]),
      "total_teks_published": count, "requests_with_revisions": count,
      "tek_age_distribution": .array(of: count, "By age in days, 0 to 15.", count: 16...16),
      "onset_to_upload_distribution": .array(
        of: count, "By days since the onset, 0 to 29.", count: 30...30),
      "requests_missing_onset_date": count,
      "token_to_upload_distribution": .array(
        of: count, "By minutes since the token was issued: under 1, 2, 5, 10, 20, and longer.",
        count: 6...6),
      "upload_to_file_distribution": .array(
        of: count,
        "By minutes until the file was written: under 30, 60, 120, 180, 240, 480, and longer.",
        count: 7...7),
      "files": .array(
        of: .object(
          ["name": .string("The line of the file in the index."), "padding": count],
          required: ["name", "padding"]),
        "The files of the day with their padding."),
    ], required: ["day", "publish_requests", "total_teks_published"])

  private static let count = JSONSchema.integer("A count.")
}

extension KeyServerComposition {
  private static func downloads(roots: [String]) -> [OpenAPIOperation] {
    [configurationOperation, deviceConfigurationOperation]
      + roots.flatMap { [index(of: $0), keyFile(of: $0)] }
  }

  private static let configurationOperation = OpenAPIOperation(
    .get, KeyServerRoute.remoteConfiguration,
    "The remote configuration, signed with the export key.",
    responses: [
      .init(
        200, "The signed configuration and its signature.",
        .object(
          [
            "payload": .string("The signed JSON in Base64."),
            "signature": .string("The ECDSA signature in Base64."),
            "keyID": .string("The ID of the signing key."),
            "keyVersion": .string("The version of the signing key."),
          ], required: ["payload", "signature", "keyID", "keyVersion"])),
      unchanged, otherVersion,
    ])

  private static let deviceConfigurationOperation = OpenAPIOperation(
    .get, KeyServerRoute.deviceConfiguration,
    "The device configuration, signed with the root key: signing keys, pause and withdrawn files.",
    responses: [
      .init(
        200, "The signed document and its signature.",
        .object(
          [
            "payload": .string("The signed JSON in Base64."),
            "signature": .string("The ECDSA signature by the root key in Base64."),
          ], required: ["payload", "signature"])),
      unchanged, otherVersion,
      .init(404, "The server has no device configuration.", callableRefusal),
    ])

  private static func index(of root: String) -> OpenAPIOperation {
    OpenAPIOperation(
      .get, KeyServerRoute.index(of: root), "Lists the key files, oldest first, one per line.",
      responses: [
        .init(
          200, "The list; empty before the first export.",
          content: ["text/plain": .string("One relative path per line.")]), unchanged,
        otherVersion,
      ])
  }

  private static func keyFile(of root: String) -> OpenAPIOperation {
    OpenAPIOperation(
      .get, KeyServerRoute.keyFile("{name}", of: root),
      "Returns a signed key file that the index lists.",
      responses: [
        .init(200, "The file.", content: ["application/zip": .string("A zip file.")]),
        unchanged, otherVersion, .init(404, "The index does not list the file.", callableRefusal),
      ])
  }

  private static let otherVersion = OpenAPIOperation.Response(
    412, "Not the version of If-Match.", content: [:])

  private static let unchanged = OpenAPIOperation.Response(
    304, "Unchanged since the version of If-None-Match.", content: [:])
}
