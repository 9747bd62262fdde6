// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import QuietHTTP
import ReportFormats
import VerificationAPI
import World

/// GET /api/stats/…: the numbers of codes by day, for the health authority, as JSON and as CSV.
///
/// The numbers of issuers are of days that are over, and rounded: else a client that asks often would see who issued a
/// certain code.
struct StatisticsRoutes: Sendable {
  let storage: any CodeStorage
  let attempts: AttemptCounter
  let gate: APIKeyGate
  let clock: any WallClock
  let randomness: any Randomness

  private typealias Read = @Sendable () async throws -> StatisticsTable?

  func add(to router: Router<QuietContext>) {
    add(VerificationRoute.statistics, to: router) {
      // Reading the attempts stores those of this process first, and its user reports.
      let attempts = try await attemptCounts()
      return .codes(
        try await storage.counts(), attempts: attempts,
        reports: try await counts(of: .userReport), today: today)
    }
    add(VerificationRoute.userStatistics, to: router) {
      .officials(try await counts(of: .official))
    }
    add(VerificationRoute.externalIssuerStatistics, to: router) {
      .externalIssuers(try await counts(of: .externalIssuer))
    }
    add(VerificationRoute.apiKeysStatistics, to: router) {
      .apiKeys(try await apiKeyCounts(), try await storage.apiKeys())
    }
    add(VerificationRoute.smsErrorStatistics, to: router) {
      _ = try await attemptCounts()
      return .smsErrors(try await counts(of: .smsError))
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

  private var today: Int64 { CodeCounts.day(of: clock.now.unixSecond) }

  /// The counts of the days that are over.
  private func counts(of kind: IssuerCount.Kind) async throws -> [IssuerCount] {
    let today = today
    return try await storage.issuerCounts().filter {
      $0.kind == kind && $0.day < today && $0.shown > 0
    }
  }

  /// The attempts of the days that are over, with those that this process has not stored yet.
  private func attemptCounts() async throws -> [AttemptCount] {
    // Numbers that cannot be stored are kept, and the stored ones can be read from a full disk.
    try? await attempts.store()
    let today = today
    return try await storage.attemptCounts().filter { $0.day < today }
  }

  /// The numbers of API keys on the days that are over, newest day first.
  private func apiKeyCounts() async throws -> [DatedKeyCounts] {
    DatedKeyCounts.all(
      issued: try await counts(of: .apiKey), attempts: try await attemptCounts())
  }

  private func apiKey(
    _ file: String, _ request: Request, _ context: QuietContext
  ) async throws -> Response {
    let isCSV = file.hasSuffix(".csv")
    let id = file.hasSuffix(".json") ? file.dropLast(5) : isCSV ? file.dropLast(4) : ""
    let outcome = try await response(request, context) {
      guard let key = try await storage.apiKey(APIKeyID(text: String(id))) else { return nil }
      return .apiKey(try await apiKeyCounts().filter { $0.id == key.id.text }, key)
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

  /// - Parameters:
  ///   - attempts: The attempts of the days before `today`.
  ///   - reports: The events of user reports on these days.
  ///   - today: The day whose attempts are not shown yet.
  static func codes(
    _ counts: [CodeCounts], attempts: [AttemptCount], reports: [IssuerCount], today: Int64
  ) -> Self {
    let reports = reports.reduce(into: [Int64: [UserReportEvent: Int]]()) { days, count in
      guard let event = UserReportEvent(rawValue: count.name) else { return }
      days[count.day, default: [:]][event] = count.shown
    }
    let counts = Dictionary(counts.map { ($0.day, $0) }) { first, _ in first }
    let attempts = attempts.reduce(into: [Int64: AttemptCount]()) { sums, count in
      sums[count.day, default: AttemptCount(.init(day: count.day, apiKey: ""))].add(count)
    }
    let shown = Set(counts.keys).union(attempts.filter { !$0.value.shown.isZero }.keys)
      .union(reports.keys)
    let days = shown.sorted(by: >).map { day in
      let attempts = attempts[day] ?? AttemptCount(.init(day: day, apiKey: ""))
      return (counts[day] ?? CodeCounts(day: day)).statistics(
        day < today ? attempts : nil, reports: day < today ? reports[day] ?? [:] : nil)
    }
    return StatisticsTable(
      CodeStatisticsResponse(statistics: days), [codeColumns] + days.map(codeFields))
  }

  /// The columns have the order of Google's server.
  private static let codeColumns = [
    "date", "codes_issued", "codes_claimed", "codes_invalid", "tokens_claimed", "tokens_invalid",
    "code_claim_mean_age_seconds", "code_claim_age_distribution", "user_reports_issued",
    "user_reports_claimed", "user_report_tokens_claimed", "codes_invalid_unknown_os",
    "codes_invalid_ios", "codes_invalid_android", "user_reports_invalid_nonce",
  ]

  /// The values of `codeColumns`.
  private static func codeFields(_ day: CodeStatisticsResponse.Day) -> [String] {
    let data = day.data
    let invalid = data.codesInvalidBySystem
    func texts(_ numbers: Int?...) -> [String] { numbers.map { $0.map(String.init) ?? "" } }
    return [String(day.date.prefix(10))]
      + texts(
        data.codesIssued, data.codesClaimed, data.codesInvalid, data.tokensClaimed,
        data.tokensInvalid, Int(data.claimMeanSeconds))
      + [data.claimAges.map(String.init).joined(separator: "|")]
      + texts(
        data.userReportsIssued, data.userReportsClaimed, data.userReportTokensClaimed,
        invalid?.unknown, invalid?.ios, invalid?.android, data.userReportsInvalidNonce)
  }

  static func smsErrors(_ counts: [IssuerCount]) -> Self {
    let days = Dictionary(grouping: counts, by: \.day).sorted { $0.key > $1.key }.map { day in
      SMSErrorStatisticsResponse.Day(
        date: CalendarDay(number: Int(day.key)).midnightText,
        errors: day.value.map { .init(code: $0.name, quantity: $0.shown) })
    }
    let rows = counts.map { [$0.date, "1", $0.name, "\($0.shown)"] }
    return StatisticsTable(
      SMSErrorStatisticsResponse(statistics: days),
      [["date", "realm_id", "error_code", "quantity"]] + rows)
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

  static func apiKeys(_ counts: [DatedKeyCounts], _ keys: [APIKeyRecord]) -> Self {
    let keys = Dictionary(keys.map { ($0.id.text, $0) }) { first, _ in first }
    let days = Dictionary(grouping: counts, by: \.day).sorted { $0.key > $1.key }.map { day in
      IssuerStatisticsResponse.Day(
        date: CalendarDay(number: Int(day.key)).midnightText,
        issuers: day.value.map { $0.issuer(keys[$0.id]) })
    }
    let header = ["date", "realm_id"] + keyColumns + DatedKeyCounts.columns
    let rows = counts.map { count in
      let key = keys[count.id]
      return [count.date, "1", count.id, key?.name ?? "", key?.kind.rawValue ?? ""] + count.fields
    }
    return StatisticsTable(IssuerStatisticsResponse(statistics: days), [header] + rows)
  }

  static func apiKey(_ counts: [DatedKeyCounts], _ key: APIKeyRecord) -> Self {
    let header = ["date"] + keyColumns + DatedKeyCounts.columns
    let rows = counts.map { [$0.date, key.id.text, key.name, key.kind.rawValue] + $0.fields }
    let days = counts.map {
      APIKeyStatisticsResponse.Day(
        date: CalendarDay(number: Int($0.day)).midnightText, data: $0.counts)
    }
    return StatisticsTable(
      APIKeyStatisticsResponse(
        id: key.id.text, name: key.name, kind: key.kind.rawValue, statistics: days),
      [header] + rows)
  }

  private static let keyColumns = [
    "authorized_app_id", "authorized_app_name", "authorized_app_type",
  ]

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
    let signs = "=+-@\t\r".unicodeScalars
    let isFormula = text.unicodeScalars.first.map(signs.contains) ?? false
    return CSVText.field(isFormula ? "'\(text)" : text, separators: ",;\t")
  }
}

extension IssuerCount {
  fileprivate var date: String { CalendarDay(number: Int(day)).text }
}

/// The numbers of one API key on one day, as they are shown.
private struct DatedKeyCounts: Sendable {
  let day: Int64
  /// The ID of the key.
  let id: String
  var counts = APIKeyCounts()

  /// The numbers of all keys, newest day first; keys of a day in the order of their IDs.
  static func all(issued: [IssuerCount], attempts: [AttemptCount]) -> [DatedKeyCounts] {
    var known: [AttemptCount.Key: DatedKeyCounts] = [:]
    for count in issued {
      let key = AttemptCount.Key(day: count.day, apiKey: count.name)
      known[key, default: Self(day: key.day, id: key.apiKey)].counts.codesIssued = count.shown
    }
    // The apps of the ProteGO Safe contract have no key.
    for count in attempts.map(\.shown) where !count.isZero && !count.apiKey.isEmpty {
      known[count.key, default: Self(day: count.day, id: count.apiKey)].add(count)
    }
    return known.values.sorted { ($1.day, $0.id) < ($0.day, $1.id) }
  }

  private mutating func add(_ attempts: AttemptCount) {
    counts.codesClaimed = attempts.codesClaimed
    counts.codesInvalid = attempts.codesInvalid
    counts.tokensClaimed = attempts.tokensClaimed
    counts.tokensInvalid = attempts.tokensInvalid
  }

  static let columns = [
    "codes_issued", "codes_claimed", "codes_invalid", "tokens_claimed", "tokens_invalid",
  ]

  /// The values of `columns`.
  var fields: [String] {
    [
      counts.codesIssued, counts.codesClaimed, counts.codesInvalid, counts.tokensClaimed,
      counts.tokensInvalid,
    ].map(String.init)
  }

  var date: String { CalendarDay(number: Int(day)).text }

  func issuer(_ key: APIKeyRecord?) -> IssuerStatisticsResponse.Issuer {
    var issuer = IssuerStatisticsResponse.Issuer(codesIssued: counts.codesIssued)
    issuer.apiKeyID = id
    issuer.apiKeyName = key?.name
    issuer.apiKeyKind = key?.kind.rawValue
    issuer.codesClaimed = counts.codesClaimed
    issuer.codesInvalid = counts.codesInvalid
    issuer.tokensClaimed = counts.tokensClaimed
    issuer.tokensInvalid = counts.tokensInvalid
    return issuer
  }
}
