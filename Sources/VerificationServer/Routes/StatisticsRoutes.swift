// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import QuietHTTP
import VerificationAPI
import World

/// GET /api/stats/…: the numbers of codes by day, for the health authority, as JSON and as CSV.
///
/// The numbers of issuers are of days that are over, and rounded: else a client that asks often would see who issued a
/// certain code.
struct StatisticsRoutes: Sendable {
  let storage: any CodeStorage
  let gate: APIKeyGate
  let clock: any WallClock
  let randomness: any Randomness

  private typealias Read = @Sendable () async throws -> StatisticsTable?

  func add(to router: Router<QuietContext>) {
    add(VerificationRoute.statistics, to: router) { .codes(try await storage.counts()) }
    add(VerificationRoute.userStatistics, to: router) {
      .officials(try await counts(of: .official))
    }
    add(VerificationRoute.externalIssuerStatistics, to: router) {
      .externalIssuers(try await counts(of: .externalIssuer))
    }
    add(VerificationRoute.apiKeysStatistics, to: router) {
      .apiKeys(try await counts(of: .apiKey), try await storage.apiKeys())
    }
    router.get(RouterPath(VerificationRoute.apiKeyStatistics)) { request, context in
      try await apiKey(context.parameters.get("file") ?? "", request, context)
    }
  }

  private func add(_ path: String, to router: Router<QuietContext>, _ read: @escaping Read) {
    router.get(RouterPath(path)) { request, context in
      try await response(request, context, read).json(padding: randomness)
    }
    router.get(RouterPath(VerificationRoute.csv(of: path))) { request, context in
      try await response(request, context, read).csv(padding: randomness)
    }
  }

  /// The counts of the days that are over.
  private func counts(of kind: IssuerCount.Kind) async throws -> [IssuerCount] {
    let today = CodeCounts.day(of: clock.now.unixSecond)
    return try await storage.issuerCounts().filter {
      $0.kind == kind && $0.day < today && $0.shown > 0
    }
  }

  private func apiKey(
    _ file: String, _ request: Request, _ context: QuietContext
  ) async throws -> Response {
    let isCSV = file.hasSuffix(".csv")
    let id = file.hasSuffix(".json") ? file.dropLast(5) : isCSV ? file.dropLast(4) : ""
    let outcome = try await response(request, context) {
      guard let key = try await storage.apiKey(APIKeyID(text: String(id))) else { return nil }
      return .apiKey(try await counts(of: .apiKey).filter { $0.name == key.id.text }, key)
    }
    return try isCSV ? outcome.csv(padding: randomness) : outcome.json(padding: randomness)
  }

  private func response(
    _ request: Request, _ context: QuietContext, _ read: Read
  ) async throws -> StatisticsOutcome {
    do {
      if let refused = try await gate.check(headers: request.headers, context: context) {
        return .refused(refused)
      }
      let table = try await QuietRefusal.mappingServerErrors(context.logger) { try await read() }
      guard let table else {
        return .refused(
          try PaddedResponse(VerificationFailure(.codeNotFound, "No API key has this ID.")))
      }
      return .table(table)
    } catch let refusal as QuietRefusal {
      return .refused(try PaddedResponse(refusal, form: .google))
    }
  }
}

/// The statistics, or the refusal of a request, which is JSON in both forms.
private enum StatisticsOutcome {
  case table(StatisticsTable)
  case refused(PaddedResponse)

  func json(padding randomness: any Randomness) throws -> Response {
    switch self {
    case .table(let table): try table.json().response(padding: randomness)
    case .refused(let refusal): refusal.response(padding: randomness)
    }
  }

  func csv(padding randomness: any Randomness) throws -> Response {
    guard case .table(let table) = self else { return try json(padding: randomness) }
    return Response(
      status: .ok,
      headers: [.contentType: "text/csv; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: table.csv)))
  }
}

/// Numbers by day in the forms of the contract.
private struct StatisticsTable: Sendable {
  private let body: any Encodable & Sendable
  /// The first row has the names of the columns.
  private let rows: [[String]]

  private init(_ body: any Encodable & Sendable, _ rows: [[String]]) {
    (self.body, self.rows) = (body, rows)
  }

  func json() throws -> PaddedResponse { try PaddedResponse(body) }

  var csv: String {
    rows.map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined()
  }

  static func codes(_ counts: [CodeCounts]) -> Self {
    let days = counts.map(\.statistics)
    let header = [
      "date", "codes_issued", "codes_claimed", "tokens_claimed", "code_claim_mean_age_seconds",
      "code_claim_age_distribution",
    ]
    let rows = days.map { day in
      [
        String(day.date.prefix(10)), "\(day.data.codesIssued)", "\(day.data.codesClaimed)",
        "\(day.data.tokensClaimed)", "\(day.data.claimMeanSeconds)",
        day.data.claimAges.map(String.init).joined(separator: "|"),
      ]
    }
    return StatisticsTable(CodeStatisticsResponse(statistics: days), [header] + rows)
  }

  static func officials(_ counts: [IssuerCount]) -> Self {
    // The contract has a number and an address of a user as well, which this server does not know.
    issuers(
      counts, ["name"], values: { [$0.name] },
      issuer: { count in
        var issuer = IssuerStatisticsResponse.Issuer(codesIssued: count.shown)
        issuer.name = count.name
        return issuer
      })
  }

  static func externalIssuers(_ counts: [IssuerCount]) -> Self {
    issuers(
      counts, ["issuer_id"], values: { [$0.name] },
      issuer: { count in
        var issuer = IssuerStatisticsResponse.Issuer(codesIssued: count.shown)
        issuer.externalIssuer = count.name
        return issuer
      })
  }

  static func apiKeys(_ counts: [IssuerCount], _ keys: [APIKeyRecord]) -> Self {
    let keys = Dictionary(keys.map { ($0.id.text, $0) }) { first, _ in first }
    return issuers(
      counts, ["authorized_app_id", "authorized_app_name", "authorized_app_type"],
      values: { [$0.name, keys[$0.name]?.name ?? "", keys[$0.name]?.kind.rawValue ?? ""] },
      issuer: { count in
        var issuer = IssuerStatisticsResponse.Issuer(codesIssued: count.shown)
        issuer.apiKeyID = count.name
        issuer.apiKeyName = keys[count.name]?.name
        issuer.apiKeyKind = keys[count.name]?.kind.rawValue
        return issuer
      })
  }

  static func apiKey(_ counts: [IssuerCount], _ key: APIKeyRecord) -> Self {
    let header = [
      "date", "authorized_app_id", "authorized_app_name", "authorized_app_type", "codes_issued",
    ]
    let rows = counts.map {
      [$0.date, key.id.text, key.name, key.kind.rawValue, "\($0.shown)"]
    }
    let days = counts.map {
      APIKeyStatisticsResponse.Day(
        date: CalendarDay(number: Int($0.day)).midnightText, data: .init(codesIssued: $0.shown))
    }
    return StatisticsTable(
      APIKeyStatisticsResponse(
        id: key.id.text, name: key.name, kind: key.kind.rawValue, statistics: days),
      [header] + rows)
  }

  /// The table of counts, which are in the order of their days, newest first.
  private static func issuers(
    _ counts: [IssuerCount], _ columns: [String], values: (IssuerCount) -> [String],
    issuer: (IssuerCount) -> IssuerStatisticsResponse.Issuer
  ) -> Self {
    let days = Dictionary(grouping: counts, by: \.day).sorted { $0.key > $1.key }.map { day in
      IssuerStatisticsResponse.Day(
        date: CalendarDay(number: Int(day.key)).midnightText, issuers: day.value.map(issuer))
    }
    let header = ["date", "realm_id"] + columns + ["codes_issued"]
    let rows = counts.map { [$0.date, "1"] + values($0) + ["\($0.shown)"] }
    return StatisticsTable(IssuerStatisticsResponse(statistics: days), [header] + rows)
  }

  /// A field of RFC 4180. An apostrophe precedes a sign with which spreadsheets begin formulas, because clients choose
  /// the names of issuers.
  private static func field(_ text: String) -> String {
    let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
    let text = isFormula ? "'\(text)" : text
    let isPlain = !text.contains { "\",;\t".contains($0) || $0.isNewline }
    return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
  }
}

extension IssuerCount {
  fileprivate var date: String { CalendarDay(number: Int(day)).text }
}
