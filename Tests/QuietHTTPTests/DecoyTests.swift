import Foundation
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Decoys")
struct DecoyTests {
  private func decoy(_ body: String) -> Post {
    var post = Post(body)
    post.headers = ["X-Chaff: 1"]
    return post
  }

  @Test(
    "A decoy gets the status, headers and length of a real response and has no effect",
    arguments: [
      #"{"word":"hello"}"#, #"{"padding":"AAAA"}"#, "no json",
    ])
  func looksReal(_ body: String) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let real = try await Post(#"{"word":"hello"}"#).response(port: port)
      #expect(echo.effects.count == 1)
      let response = try await decoy(body).response(port: port)
      #expect(echo.effects.count == 1)
      #expect(response.status == real.status)
      #expect(response.headerNames == real.headerNames)
      #expect(response.body.count == real.body.count)
      for name in real.headerNames where name != "date" {
        #expect(response.headers[name] == real.headers[name])
      }
    }
  }

  @Test("A decoy has the same limits as a real request")
  func sameLimits() async throws {
    try await EchoServer().running { port async throws in
      let long = String(repeating: "x", count: EchoServer.bodyBytesMax + 1)
      #expect(try await decoy(long).response(port: port).status == 413)
    }
  }

  @Test("A decoy takes as long as a real request")
  func sameTime() async throws {
    try await EchoServer().running { port async throws in
      _ = try await Post(#"{"word":"slow"}"#).response(port: port)
      let start = ContinuousClock.now
      _ = try await decoy("{}").response(port: port)
      // The only real request slept for 300 ms. A busy machine can only make this longer.
      #expect(ContinuousClock.now - start >= .milliseconds(300))
    }
  }

  @Test("A decoy has the log line of a real request")
  func sameLogLine() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      _ = try await Post(#"{"word":"hello"}"#).response(port: port)
      _ = try await decoy("{}").response(port: port)
    }
    let lines = echo.log.lines.filter { $0.contains("POST /echo 200") }
    #expect(lines.count == 2)
    #expect(!echo.log.lines.contains { $0.lowercased().contains("chaff") })
  }
}

@Suite("Response times")
struct ResponseTimesTests {
  @Test("The latest durations are kept up to the limit", arguments: 2...4)
  func latest(_ count: Int) {
    var durations = LatestDurations(countMax: 3)
    for number in 1...count { durations.append(.seconds(number)) }
    #expect(Set(durations.all) == Set((max(1, count - 2)...count).map { .seconds($0) }))
  }

  @Test("The median ignores outliers and is zero without durations")
  func median() {
    var durations = LatestDurations(countMax: 3)
    #expect(durations.median == .zero)
    for seconds in [5, 1, 900] { durations.append(.seconds(seconds)) }
    #expect(durations.median == .seconds(5))
  }

  @Test("A sample is a recorded time, at most the limit")
  func sample() {
    let times = ResponseTimes(randomness: SystemRandomness())
    #expect(times.sample() == .zero)
    for seconds in [1, 2] { times.record(.seconds(seconds)) }
    let samples = Set((0..<100).map { _ in times.sample() })
    #expect(samples == [.seconds(1), .seconds(2)])
    for _ in 0..<QuietLimit.responseTimesMax {
      times.record(.seconds(QuietLimit.decoySecondsMax + 1))
    }
    #expect(times.sample() == .seconds(QuietLimit.decoySecondsMax))
  }

  /// The distinct values of many samples.
  private func samples(from times: ResponseTimes) -> Set<Duration> {
    Set((0..<20_000).map { _ in times.sample() })
  }

  @Test("Samples are recorded times and never a mean")
  func varies() {
    let times = ResponseTimes(randomness: SystemRandomness())
    let real: [Duration] = [.milliseconds(3), .milliseconds(4), .milliseconds(16)]
    for time in real { times.record(time) }
    #expect(samples(from: times) == Set(real))
  }

  @Test("Times are recorded up to the limit, and the oldest is evicted", arguments: [-1, 0, 1])
  func recorded(offset: Int) {
    let times = ResponseTimes(randomness: SystemRandomness())
    let all = (1...QuietLimit.responseTimesMax + offset).map { Duration.microseconds($0) }
    for time in all { times.record(time) }
    #expect(samples(from: times) == Set(all.suffix(QuietLimit.responseTimesMax)))
  }

  @Test("A sample above the limit is shortened to the limit", arguments: [-1, 0, 1])
  func longest(offset: Int) {
    let times = ResponseTimes(randomness: SystemRandomness())
    let limit = Duration.seconds(QuietLimit.decoySecondsMax)
    times.record(limit + .milliseconds(offset))
    #expect(times.sample() == limit + .milliseconds(min(offset, 0)))
  }

  @Test("Long wake-up delays are forgotten after a busy time")
  func delaysAreMeasuredAgain() async throws {
    let times = ResponseTimes(randomness: SystemRandomness())
    times.record(.seconds(QuietLimit.decoySecondsMax))
    for _ in 0..<QuietLimit.wakeDelaysMax { times.recordDelay(.seconds(900)) }
    #expect(times.medianDelay == .seconds(900))
    for _ in 0..<QuietLimit.wakeDelaysMax where times.medianDelay == .seconds(900) {
      try await times.wait(since: .now)
    }
    #expect(times.medianDelay < .seconds(900))
  }
}
