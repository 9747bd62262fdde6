// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird

/// The routes by which supervisors and load balancers observe a server: `/health` responds with 200 while the process
/// serves requests, and `/ready` with 200 only if the server can do its work, otherwise with 503 and the names of the
/// parts that fail.
///
/// Both are answered also while the server rejects requests because of its load: otherwise a load balancer would move
/// the load of one server to the others, and then their load too.
public struct HealthRoutes: Sendable {
  /// The path of the route for supervisors.
  public static let health = "/health"
  /// The path of the route for load balancers.
  public static let ready = "/ready"

  private let readiness: Readiness

  /// - Parameter check: Returns the names of the parts that fail. It is called at most once at a time and once in
  ///   `QuietLimit.readinessSeconds`. After `QuietLimit.readinessCheckSeconds` without a result, the server is not
  ///   ready.
  public init(check: @escaping @Sendable () async -> [String]) {
    readiness = Readiness(check)
  }

  /// Adds both routes.
  public func add(to router: Router<QuietContext>) {
    router.get(RouterPath(Self.health)) { _, _ in
      Self.response(.ok, #"{"alive":true}"#)
    }
    router.get(RouterPath(Self.ready)) { [readiness] _, _ in
      let faults = await readiness.faults()
      let names = faults.map { "\"\($0)\"" }.joined(separator: ",")
      return faults.isEmpty
        ? Self.response(.ok, #"{"ready":true}"#)
        : Self.response(.serviceUnavailable, #"{"ready":false,"faults":[\#(names)]}"#)
    }
  }

  /// The descriptions of both routes.
  static let operations = [
    OpenAPIOperation(
      .get, health, "Responds while the process serves requests.",
      responses: [
        .init(
          200, "The server is alive.",
          .object(["alive": .boolean("Always true.")], required: ["alive"]))
      ]),
    OpenAPIOperation(
      .get, ready, "Tells load balancers if the server can do its work.",
      responses: [
        .init(
          200, "The server is ready.",
          .object(["ready": .boolean("Always true.")], required: ["ready"])),
        .init(
          503, "The server is not ready.",
          .object(
            [
              "ready": .boolean("Always false."),
              "faults": .array(of: .string("A part of the server."), "The parts that fail."),
            ], required: ["ready", "faults"])),
      ]),
  ]

  /// Returns `true` if the request is for one of the routes.
  static func contains(_ request: Request) -> Bool {
    [health, ready].contains(request.uri.path)
  }

  private static func response(_ status: HTTPResponse.Status, _ json: String) -> Response {
    Response(
      status: status,
      headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: json)))
  }
}

/// The last result of a check, and the check that is running.
actor Readiness {
  /// The name of the fault that a check takes too long.
  static let timeout = "timeout"

  private let check: @Sendable () async -> [String]
  private let now: @Sendable () -> ContinuousClock.Instant
  private let waitForTimeout: @Sendable () async -> Void
  private var last: (faults: [String], at: ContinuousClock.Instant)?
  /// The number of the running check; nil if none runs.
  private var running: Int?
  private var checkCount = 0
  private var waiting: [CheckedContinuation<[String], Never>] = []

  init(
    _ check: @escaping @Sendable () async -> [String],
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    waitForTimeout: @escaping @Sendable () async -> Void = {
      // The sleep is not cancelled.
      try? await Task.sleep(for: .seconds(QuietLimit.readinessCheckSeconds))
    }
  ) {
    self.check = check
    self.now = now
    self.waitForTimeout = waitForTimeout
  }

  /// The names of the parts that fail; empty if the server is ready.
  func faults() async -> [String] {
    if let last, now() - last.at < .seconds(QuietLimit.readinessSeconds) {
      return last.faults
    }
    // A check that does not end, such as one of a database that hangs, is not started again.
    if running != nil, let last, last.faults == [Self.timeout] { return last.faults }
    return await withCheckedContinuation { continuation in
      waiting.append(continuation)
      if running == nil { start() }
    }
  }

  private func start() {
    checkCount += 1
    let number = checkCount
    running = number
    Task { finish(await check()) }
    Task {
      await waitForTimeout()
      if running == number { settle([Self.timeout]) }
    }
  }

  private func finish(_ faults: [String]) {
    running = nil
    settle(faults)
  }

  private func settle(_ faults: [String]) {
    last = (faults, now())
    for continuation in waiting { continuation.resume(returning: faults) }
    waiting = []
  }
}
