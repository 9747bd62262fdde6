// SPDX-License-Identifier: Apache-2.0
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
  private let stopwatch = ManualStopwatch()

  private func times(gridMilliseconds: Int = 5) -> ResponseTimes {
    ResponseTimes(
      randomness: SystemRandomness(), gridMilliseconds: gridMilliseconds, stopwatch: stopwatch)
  }

  /// The time from the start of a response until it is sent, if its work takes `microseconds`.
  private func sent(
    _ times: ResponseTimes, after microseconds: Int, as kind: ResponseTimes.Kind
  ) async throws -> Duration {
    let start = times.start()
    stopwatch.advance(by: .microseconds(microseconds))
    try await times.finish(start, as: kind)
    return stopwatch.elapsed - start
  }

  @Test(
    "A response is sent at the next point of the grid, whatever path it took",
    arguments: [ResponseTimes.Kind.success, .imitation, .state])
  func grid(kind: ResponseTimes.Kind) async throws {
    for (microseconds, milliseconds) in [
      (0, 5), (1, 5), (300, 5), (4_999, 5), (5_000, 5), (5_001, 10), (12_345, 15),
    ] {
      stopwatch.advance(by: .microseconds(777))
      let time = try await sent(times(), after: microseconds, as: kind)
      #expect(time == .milliseconds(milliseconds), "\(microseconds)")
    }
  }

  @Test("Decoys and refusals take as long as a success, and only successes are remembered")
  func imitation() async throws {
    let times = times()
    _ = try await sent(times, after: 23_000, as: .success)
    for _ in 0..<2 * QuietLimit.responseTimesMax {
      #expect(try await sent(times, after: 100, as: .imitation) == .milliseconds(25))
      #expect(try await sent(times, after: 100, as: .state) == .milliseconds(5))
    }
    #expect(try await sent(times, after: 41_000, as: .imitation) == .milliseconds(45))
    #expect(times.sample() == .milliseconds(23))
  }

  @Test("The latest durations are kept up to the limit", arguments: 2...4)
  func latest(_ count: Int) {
    var durations = LatestDurations(countMax: 3)
    for number in 1...count { durations.append(.seconds(number)) }
    #expect(Set(durations.all) == Set((max(1, count - 2)...count).map { .seconds($0) }))
  }

  @Test("A sample is a recorded time, at most the limit")
  func sample() {
    let times = times()
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
    let times = times()
    let real: [Duration] = [.milliseconds(3), .milliseconds(4), .milliseconds(16)]
    for time in real { times.record(time) }
    #expect(samples(from: times) == Set(real))
  }

  @Test("Times are recorded up to the limit, and the oldest is evicted", arguments: [-1, 0, 1])
  func recorded(offset: Int) {
    let times = times()
    let all = (1...QuietLimit.responseTimesMax + offset).map { Duration.microseconds($0) }
    for time in all { times.record(time) }
    #expect(samples(from: times) == Set(all.suffix(QuietLimit.responseTimesMax)))
  }

  @Test("A sample above the limit is shortened to the limit", arguments: [-1, 0, 1])
  func longest(offset: Int) {
    let times = times()
    let limit = Duration.seconds(QuietLimit.decoySecondsMax)
    times.record(limit + .milliseconds(offset))
    #expect(times.sample() == limit + .milliseconds(min(offset, 0)))
  }
}

@Suite("Response times of a route")
struct RouteTimesTests {
  /// The next request of `kind` takes this many milliseconds from its start to its response.
  private func milliseconds(
    _ body: String, headers: [String] = [], _ echo: EchoServer, port: Int
  ) async throws -> Int64 {
    let before = echo.stopwatch.elapsed
    var post = Post(body)
    post.headers = headers
    _ = try await post.response(port: port)
    return (echo.stopwatch.elapsed - before) / .milliseconds(1) == 0
      ? 0 : Int64((echo.stopwatch.elapsed - before) / .milliseconds(1))
  }

  @Test("After many cheap failing requests decoys and refusals still take as long as a success")
  func cheapFailures() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      // The work of this word advances the stopwatch by 300 ms.
      let real = try await milliseconds(#"{"word":"work"}"#, echo, port: port)
      #expect(real == 300)
      for _ in 0..<QuietLimit.responseTimesMax {
        #expect(try await milliseconds("no json", echo, port: port) == 300)
      }
      #expect(try await milliseconds("{}", headers: ["X-Chaff: 1"], echo, port: port) == 300)
      #expect(try await milliseconds(#"{"word":"refused"}"#, echo, port: port) == 300)
      #expect(try await milliseconds(#"{"word":"storage"}"#, echo, port: port) == 5)
    }
  }

  @Test("Successes, refusals and decoys have as many bytes on the network")
  func lengths() async throws {
    try await EchoServer().running { port async throws in
      var lengths: Set<Int> = []
      for body in [#"{"word":"hello"}"#, "no json", #"{"word":"refused"}"#, #"{"word":"busy"}"#] {
        lengths.insert(
          try await Wire.exchange([Post(body).head + Post(body).body], port: port).count)
      }
      var decoy = Post("{}")
      decoy.headers = ["X-Chaff: 1"]
      // Both have the header `connection: close`, which `Post` asks for.
      lengths.insert(try await Wire.exchange([decoy.head + decoy.body], port: port).count)
      #expect(lengths.count == 1, "\(lengths)")
    }
  }
}
