// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// The result of `bench publish`, as `--json` prints it.
struct PublishReport: Encodable {
  /// The database of the server.
  enum Database: String, Encodable {
    case sqlite, postgresql, external
  }

  /// Processor time per request; null if it cannot be measured from here.
  struct Processors: Encodable {
    let generator: Double
    let server: Double?
    let database: Double?

    func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: CodingKeys.self)
      try object.encode(generator, forKey: .generator)
      try object.encode(server, forKey: .server)
      try object.encode(database, forKey: .database)
    }

    private enum CodingKeys: CodingKey {
      case generator, server, database
    }
  }

  let build = BuildKind.current
  let requests: Int
  let keysPerRequest: Int
  let connections: Int
  let database: Database
  let requestsPerSecond: Double
  /// The rate of uploads without a server in the same run; nil with decoys and for an external server.
  var bareUploadsPerSecond: Double?
  let p50Milliseconds: Double
  let p95Milliseconds: Double
  let p99Milliseconds: Double
  /// Requests that failed or got a wrong response.
  let errors: Int
  let cpuMicroseconds: Processors
  /// Present if half of the requests were decoys.
  let chaff: ChaffComparison?

  init(
    _ exchanges: [UploadExchange], keysPerRequest: Int, connections: Int, database: Database,
    wall: Duration, processors: Processors, hasChaff: Bool
  ) {
    requests = exchanges.count
    self.keysPerRequest = keysPerRequest
    self.connections = connections
    self.database = database
    requestsPerSecond = (Double(exchanges.count) / (wall / .seconds(1))).rounded(to: 1)
    let times = Distribution(
      exchanges.filter { !$0.isChaff && $0.response != nil }.map { $0.duration / .milliseconds(1) })
    p50Milliseconds = times.percentile(50).rounded(to: 3)
    p95Milliseconds = times.percentile(95).rounded(to: 3)
    p99Milliseconds = times.percentile(99).rounded(to: 3)
    let check = ResponseCheck(keysPerUpload: keysPerRequest)
    errors = exchanges.count { !check.isCorrect($0) }
    cpuMicroseconds = processors
    chaff = hasChaff ? ChaffComparison(exchanges) : nil
  }
}

extension PublishReport {
  /// The result as text.
  var text: String {
    let cpu = cpuMicroseconds
    func microseconds(_ value: Double?) -> String {
      value.map { "\($0) µs" } ?? "not measured"
    }
    let bare = bareUploadsPerSecond.map { ", \($0) without a server" } ?? ""
    let lines = [
      "\(requests) uploads of \(keysPerRequest) keys over \(connections) connections, "
        + "\(database.rawValue), \(build.rawValue) build",
      "per second  \(requestsPerSecond) uploads\(bare), \(errors) errors",
      "latency     p50 \(p50Milliseconds) ms, p95 \(p95Milliseconds) ms, p99 \(p99Milliseconds) ms",
      "processor   generator \(microseconds(cpu.generator)), server \(microseconds(cpu.server))"
        + (database == .sqlite ? " with SQLite" : "") + " per upload"
        + (database == .postgresql ? ", PostgreSQL not measured" : ""),
    ]
    return (lines + (chaff.map { [$0.text] } ?? [])).joined(separator: "\n")
  }
}

extension ChaffComparison {
  /// The result as text.
  var text: String {
    func verdict(_ holds: Bool) -> String { holds ? "same" : "DIFFERENT" }
    let (real, decoy) = (answerBytes.real, answerBytes.chaff)
    return """
      decoys      median \(p50Milliseconds.chaff) ms, uploads \(p50Milliseconds.real) ms: \
      \(verdict(sameMedians)); responses \(decoy.minimum) to \(decoy.maximum) bytes, uploads \
      \(real.minimum) to \(real.maximum): \(verdict(sameSizes)); headers: \(verdict(sameHeaders))
      """
  }
}

/// Compares the responses to decoys and to uploads by what an observer of the network sees: sizes, headers and times.
struct ChaffComparison: Encodable {
  /// A value for uploads and one for decoys.
  struct Pair<Value: Encodable & Sendable>: Encodable, Sendable {
    let real: Value
    let chaff: Value
  }

  struct Sizes: Encodable, Sendable {
    let minimum: Int
    let median: Int
    let maximum: Int
  }

  /// The maximum difference of the median latencies, as a fraction of the larger one.
  static let medianDifferenceMax = 0.05

  let requests: Pair<Int>
  let p50Milliseconds: Pair<Double>
  /// Sizes of the response bodies.
  let answerBytes: Pair<Sizes>
  let sameMedians: Bool
  let sameSizes: Bool
  let sameHeaders: Bool

  /// True if no property differs.
  var holds: Bool { sameMedians && sameSizes && sameHeaders }

  init(_ exchanges: [UploadExchange]) {
    let (real, chaff) = (exchanges.filter { !$0.isChaff }, exchanges.filter(\.isChaff))
    requests = Pair(real: real.count, chaff: chaff.count)
    let times = Pair(real: Self.times(real).median, chaff: Self.times(chaff).median)
    p50Milliseconds = Pair(real: times.real.rounded(to: 3), chaff: times.chaff.rounded(to: 3))
    sameMedians =
      abs(times.real - times.chaff) <= Self.medianDifferenceMax * max(times.real, times.chaff)
    let (realSizes, chaffSizes) = (Self.sizes(real), Self.sizes(chaff))
    answerBytes = Pair(real: Sizes(realSizes), chaff: Sizes(chaffSizes))
    sameSizes = realSizes.isLike(chaffSizes)
    sameHeaders = HeaderShape(real) == HeaderShape(chaff)
  }

  private static func times(_ exchanges: [UploadExchange]) -> Distribution {
    Distribution(exchanges.filter { $0.response != nil }.map { $0.duration / .milliseconds(1) })
  }

  private static func sizes(_ exchanges: [UploadExchange]) -> Distribution {
    Distribution(exchanges.compactMap { $0.response.map { Double($0.body.count) } })
  }
}

extension ChaffComparison.Sizes {
  fileprivate init(_ sizes: Distribution) {
    self.init(
      minimum: Int(sizes.minimum), median: Int(sizes.median), maximum: Int(sizes.maximum))
  }
}

/// The distinguishing properties of response headers: the order of names and the constant values.
struct HeaderShape: Equatable {
  /// The sequences of header names that occur.
  private let names: Set<[String]>
  /// The values of fields that are equal in all responses.
  private let fixedValues: [String: String]
  /// The names of fields with different values.
  private let varying: Set<String>

  /// The date is public, and lengths are compared separately.
  private static let ignored: Set<String> = ["date", "content-length"]

  init(_ exchanges: [UploadExchange]) {
    let headers = exchanges.compactMap { $0.response?.headers }
    names = Set(headers.map { $0.map { $0.name.lowercased() } })
    var values: [String: Set<String>] = [:]
    for header in headers.joined() where !Self.ignored.contains(header.name.lowercased()) {
      values[header.name.lowercased(), default: []].insert(header.value)
    }
    fixedValues = values.filter { $0.value.count == 1 }.compactMapValues(\.first)
    varying = Set(values.filter { $0.value.count > 1 }.keys)
  }
}

/// Checks that the server accepted an upload: a fast error must not count as a fast response.
struct ResponseCheck {
  /// The number of keys that each upload must insert.
  let keysPerUpload: Int

  /// The checked fields of a response.
  private struct Body: Decodable {
    let insertedExposures: Int?
    let error: String?
    let code: String?
  }

  /// A decoy must get status 200; a real upload must also insert all keys without an error.
  func isCorrect(_ exchange: UploadExchange) -> Bool {
    guard let response = exchange.response, response.status == 200 else { return false }
    guard !exchange.isChaff else { return true }
    guard let body = JSONDecoder().decodeIfValid(Body.self, from: Data(response.body)) else {
      return false
    }
    return body.insertedExposures == keysPerUpload && (body.error ?? "").isEmpty
      && (body.code ?? "").isEmpty
  }
}
