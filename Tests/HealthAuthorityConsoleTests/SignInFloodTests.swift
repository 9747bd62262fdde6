// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import Synchronization
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// Many wrong sign-ins at once, against a console with the true cost of passwords.
@Suite struct SignInFloodTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Signs in with wrong passwords from many networks until the returned task is cancelled.
  private func flood(_ console: RunningConsole, _ statuses: Statuses) -> Task<Void, Never> {
    Task {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<60 {
          group.addTask {
            // A cancelled or refused connection ends this sender.
            while !Task.isCancelled {
              guard
                let response = try? await Self.wrongSignIn(
                  port: console.port, client: "198.51.\(number).7", name: "Name \(number)")
              else { return }
              statuses.add(response.status)
            }
          }
        }
      }
    }
  }

  private static func wrongSignIn(
    port: Int, client: String, name: String
  ) async throws -> RawPost.Answer {
    try await RawPost(
      port: port, path: "/sign-in",
      headers: [
        "host": "127.0.0.1:\(port)", "content-type": "application/x-www-form-urlencoded",
        "x-forwarded-for": client,
      ]
    ).answer(
      sending: Data("name=\(name.replacing(" ", with: "+"))&password=wrong&code=123456".utf8))
  }

  private func runBehindProxy(
    in place: TemporaryFolder? = nil, _ test: (RunningConsole) async throws -> Void
  ) async throws {
    try await RunningConsole.run(
      in: (place ?? folder).url,
      configure: {
        // An eighth of the true cost, which `make prove` pays.
        $0.scryptCostLog = ConsoleLimit.scryptCostLog - (Proof.isRunning ? 0 : 3)
        $0.trustedProxies = TrustedProxies(["127.0.0.0/8"]) ?? .none
      }, test)
  }

  @Test("During a flood of wrong sign-ins all pages are served, and an official can sign in")
  func signedIn() async throws {
    try await runBehindProxy { console async throws in
      let official = try await console.signedIn(.administrator)
      let other = try await console.administration.addAccount(name: "Other", role: .issuer)
      let statuses = Statuses()
      let flood = flood(console, statuses)
      try await Patience.until { statuses.count(of: 503) > 20 && statuses.count(of: 401) > 2 }
      for path in ["/", "/own", "/accounts", "/audit"] {
        for _ in 0..<5 { #expect(try await official.get(path).status == 200, "\(path)") }
      }
      // Its one-time code is right, so it goes before the others.
      #expect(try await console.browser().signIn(other, at: console.clock.now).status == 303)
      flood.cancel()
      await flood.value
      #expect(statuses.others([401, 429, 503]).isEmpty)
    }
  }

  @Test(
    "A shutdown during a flood of wrong sign-ins ends, and the official's request before it is answered"
  )
  func shutdown() async throws {
    let isAnswered = try await Patience.succeeds(within: QuietLimit.shutdownSeconds) {
      try await answersWhileShuttingDown()
    }
    #expect(isAnswered)
  }

  /// True if an approval that was in progress at the shutdown gets its complete response.
  private func answersWhileShuttingDown() async throws -> Bool {
    let place = try TemporaryFolder()
    let statuses = Statuses()
    var isAnswered = false
    try await runBehindProxy(in: place) { console async throws in
      let anna = try await console.signedIn(.administrator, name: "Anna")
      let berta = try await console.signedIn(.administrator, name: "Berta")
      let number = try await anna.request("/keys/rotate", ["server": "keys"])
      console.authority.state.isHeld = true
      let approval = Task { try await berta.post("/changes/\(number)/approve", [:]).status }
      try await Patience.until { try await anna.get("/changes").text.contains("outcome unknown") }
      let flood = flood(console, statuses)
      try await Patience.until { statuses.count(of: 503) > 20 && statuses.count(of: 401) > 2 }
      await console.shutDown()
      console.authority.state.isHeld = false
      // A response that the end of the grace period has cut off throws.
      isAnswered = (try? await approval.value) == 200
      // Each sender goes on until its connection is refused.
      await flood.value
      // Nothing but the shutdown ends the console.
      try await console.waitUntilStopped()
      #expect(console.authority.state.rotated == [.keys])
    }
    // Zero is a connection that was closed before its request was read.
    #expect(statuses.others([401, 429, 503, 0]).isEmpty)
    return isAnswered
  }

  @Test("Of more sign-ins than may wait, the ones above are refused at once and do not count")
  func refused() async throws {
    let checks = PasswordChecks(
      countMax: 1, waitingMax: 2, costLog: 4, randomness: SystemRandomness())
    let (hold, release) = AsyncStream<Void>.makeStream()
    let running = Task {
      try await checks.withPlace(isFirst: false) { _ in for await _ in hold { return } }
    }
    let order = Order()
    func waiting(_ name: String, isFirst: Bool) -> Task<Void, any Error> {
      Task {
        try await checks.withPlace(isFirst: isFirst) { _ in order.add(name) }
      }
    }
    try await Patience.until { checks.takenCount == 1 }
    let first = waiting("a", isFirst: false)
    try await Patience.until { checks.waitingCount == 1 }
    let second = waiting("b", isFirst: false)
    try await Patience.until { checks.waitingCount == 2 }
    await #expect(throws: PasswordChecks.Busy.self) {
      try await checks.withPlace(isFirst: false) { _ in }
    }
    // One with a right code takes the place of the last one.
    let official = waiting("official", isFirst: true)
    await #expect(throws: PasswordChecks.Busy.self) { try await second.value }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    let third = waiting("c", isFirst: false)
    try await Patience.until { checks.waitingCount == 2 }
    release.yield()
    try await running.value
    try await official.value
    try await third.value
    #expect(order.names == ["official", "c"])
    #expect(checks.takenCount == 0)
  }
}

/// The numbers of responses by status.
private final class Statuses: Sendable {
  private let counts = Mutex<[Int: Int]>([:])

  func add(_ status: Int) { counts.withLock { $0[status, default: 0] += 1 } }

  func count(of status: Int) -> Int { counts.withLock { $0[status, default: 0] } }

  /// The statuses besides `known`.
  func others(_ known: Set<Int>) -> [Int] {
    counts.withLock { $0.keys.filter { !known.contains($0) } }
  }
}

/// The names of callers in the order in which they got a place.
private final class Order: Sendable {
  private let state = Mutex<[String]>([])

  var names: [String] { state.withLock { $0 } }

  func add(_ name: String) { state.withLock { $0.append(name) } }
}
