import Foundation

/// What `bench publish` measured, as `--json` prints it. Documentation/Performance.md 5.
struct PublishReport: Encodable {
  /// Where the server keeps what it takes.
  enum Database: String, Encodable {
    case sqlite, postgresql, external
  }

  /// Processor time for each request; null where it cannot be seen from here.
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
  let p50Milliseconds: Double
  let p95Milliseconds: Double
  let p99Milliseconds: Double
  /// Requests that were not answered as they should be.
  let errors: Int
  let cpuMicroseconds: Processors
  /// Where half of the requests were decoys.
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
    let times = Spread(
      exchanges.filter { !$0.isChaff && $0.answer != nil }.map { $0.duration / .milliseconds(1) })
    p50Milliseconds = times.percentile(50).rounded(to: 3)
    p95Milliseconds = times.percentile(95).rounded(to: 3)
    p99Milliseconds = times.percentile(99).rounded(to: 3)
    let check = AnswerCheck(keysPerUpload: keysPerRequest)
    errors = exchanges.count { !check.isRight($0) }
    cpuMicroseconds = processors
    chaff = hasChaff ? ChaffComparison(exchanges) : nil
  }
}

extension PublishReport {
  /// The same for people to read.
  var text: String {
    let cpu = cpuMicroseconds
    func microseconds(_ value: Double?) -> String {
      value.map { "\($0) µs" } ?? "not seen from here"
    }
    let lines = [
      "\(requests) uploads of \(keysPerRequest) keys over \(connections) connections, "
        + "\(database.rawValue), \(build.rawValue) build",
      "a second    \(requestsPerSecond) uploads, \(errors) of all not answered as they should be",
      "latency     p50 \(p50Milliseconds) ms, p95 \(p95Milliseconds) ms, p99 \(p99Milliseconds) ms",
      "processor   generator \(microseconds(cpu.generator)), server \(microseconds(cpu.server)), "
        + "database \(microseconds(cpu.database)) for each upload",
    ]
    return (lines + (chaff.map { [$0.text] } ?? [])).joined(separator: "\n")
  }
}

extension ChaffComparison {
  /// The same for people to read.
  var text: String {
    func verdict(_ holds: Bool) -> String { holds ? "alike" : "NOT alike" }
    let (real, decoy) = (answerBytes.real, answerBytes.chaff)
    return """
      decoys      median \(p50Milliseconds.chaff) ms beside \(p50Milliseconds.real) ms: \
      \(verdict(sameMedians)); answers of \(decoy.minimum) to \(decoy.maximum) bytes beside \
      \(real.minimum) to \(real.maximum): \(verdict(sameSizes)); headers: \(verdict(sameHeaders))
      """
  }
}
