// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ExposureApp

@Suite("HTTP network, against a local server") struct HTTPNetworkTests {
  /// Serves `routes` while `work` runs with the server's URL and a network.
  ///
  /// - Parameter timeoutSeconds: The timeout of all requests; nil for the usual ones.
  private func serving(
    timeoutSeconds: Double? = .patience, _ routes: @Sendable (Router<BasicRequestContext>) -> Void,
    _ work: (URL, HTTPNetwork) async throws -> Void
  ) async throws {
    let router = Router()
    routes(router)
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let server = Task { try await application.run() }
    let network = HTTPNetwork(ownMachineTimeoutSeconds: timeoutSeconds)
    var served: URL?
    do {
      var iterator = ports.makeAsyncIterator()
      let bound = try #require(await iterator.next())
      let url = try #require(URL(string: "http://127.0.0.1:\(bound)"))
      served = url
      try await work(url, network)
    } catch {
      Issue.record(error)
    }
    await network.shutdown()
    // Stopping the server while it accepts a connection traps in SwiftNIO, and a request may have timed out before its
    // connection was accepted. Connections are accepted in order: after this response no earlier one is pending.
    if let served { _ = try await LoopbackClient.send("GET", served.absoluteString) }
    server.cancel()
    _ = await server.result
  }

  @Test("Retry-After is read as seconds and as a date in each form of RFC 9110, within its limit")
  func retryAfter() {
    let sent = Date(timeIntervalSince1970: 784_111_777)
    for (value, seconds) in [
      ("17", 17), (" 17 ", 17), ("0", 0),
      ("999999999999999999999", NetworkLimit.retryAfterSecondsMax),
      ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sunday, 06-Nov-94 08:51:37 GMT", 120),
      ("Sun Nov  6 08:51:37 1994", 120), ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
      ("Tue, 06 Nov 2040 08:49:37 GMT", NetworkLimit.retryAfterSecondsMax),
    ] {
      #expect(RetryAfter.seconds(value, sentAt: sent) == seconds, "\(value)")
    }
    for value in ["", "soon", "-5", "1.5", "Sun, 06 Nov 1994"] {
      #expect(RetryAfter.seconds(value, sentAt: sent) == nil, "\(value)")
    }
  }

  @Test("A response with a date as Retry-After is read, within the limit")
  func retryAfterDate() async throws {
    try await serving { router in
      router.get("busy") { _, _ in
        Response(
          status: .serviceUnavailable, headers: [.retryAfter: "Fri, 31 Dec 2100 23:59:59 GMT"])
      }
    } _: { url, network in
      let busy = try await network.send(
        NetworkRequest(url.appendingPathComponent("busy"), timeoutSeconds: .patience))
      #expect(busy.retryAfterSeconds == NetworkLimit.retryAfterSecondsMax)
    }
  }

  @Test("The date and the age of a response are kept apart, and one that is too old states no time")
  func dateAndAge() async throws {
    try await serving { router in
      for (path, age) in [("aged", "7200"), ("old", "99999999999999999999"), ("odd", "-5")] {
        router.get(RouterPath(path)) { _, _ in
          Response(status: .ok, headers: [.age: age])
        }
      }
    } _: { url, network in
      for (path, age) in [("aged", 7_200), ("old", 1e20), ("odd", 0)] {
        let response = try await network.send(
          NetworkRequest(url.appendingPathComponent(path), timeoutSeconds: .patience))
        // The server states the time of this machine.
        let date = try #require(response.date)
        #expect(date <= Date())
        #expect(response.ageSeconds == age, "\(path)")
        let ahead = response.secondsAhead(sent: date, received: Date())
        #expect((ahead == nil) == (path == "old"))
      }
    }
  }

  @Test("GET and POST requests arrive unchanged, and every status is returned")
  func sends() async throws {
    try await serving { router in
      router.get("hello") { _, _ in "hello" }
      router.post("echo") { request, _ in
        let body = try await request.body.collect(upTo: 100)
        let type = request.headers[.contentType] ?? ""
        return "\(type) \(String(buffer: body))"
      }
      router.get("busy") { _, _ in
        Response(status: .tooManyRequests, headers: [.retryAfter: "17"])
      }
      router.get("away") { _, _ in Response.redirect(to: "/hello") }
    } _: { url, network in
      let hello = try await network.send(
        NetworkRequest(url.appendingPathComponent("hello"), timeoutSeconds: .patience))
      #expect(hello.status == 200)
      #expect(String(decoding: hello.body, as: UTF8.self) == "hello")
      let echo = try await network.send(
        NetworkRequest(
          url.appendingPathComponent("echo"), body: Data("{}".utf8), timeoutSeconds: .patience))
      #expect(String(decoding: echo.body, as: UTF8.self) == "application/json {}")
      let busy = try await network.send(
        NetworkRequest(url.appendingPathComponent("busy"), timeoutSeconds: .patience))
      #expect(busy.status == 429)
      #expect(busy.retryAfterSeconds == 17)
      let away = try await network.send(
        NetworkRequest(url.appendingPathComponent("away"), timeoutSeconds: .patience))
      #expect((300..<400).contains(away.status))
    }
  }

  @Test("A response up to the size limit is accepted, a longer one is rejected")
  func limits() async throws {
    let folder = try TemporaryFolder()
    try await serving { router in
      router.get("bytes") { _, _ in ByteBuffer(repeating: 7, count: 1_000) }
    } _: { url, network in
      let url = url.appendingPathComponent("bytes")
      let file = folder.path("file")
      for limit in [1_000, 1_001] {
        let request = NetworkRequest(url, timeoutSeconds: .patience, responseBytesMax: limit)
        let sent = try await network.send(request)
        #expect(sent.body.count == 1_000)
        let downloaded = try await network.download(request, to: file)
        #expect(downloaded.status == 200)
        let content = try Data(contentsOf: file)
        #expect(content == Data(repeating: 7, count: 1_000))
      }
      let tooSmall = NetworkRequest(url, timeoutSeconds: .patience, responseBytesMax: 999)
      await #expect(throws: NetworkFailure.tooLarge) { try await network.send(tooSmall) }
      await #expect(throws: NetworkFailure.tooLarge) {
        try await network.download(tooSmall, to: file)
      }
    }
  }

  @Test("A download with a 404 response leaves no file")
  func missing() async throws {
    let folder = try TemporaryFolder()
    try await serving { _ in
    } _: { url, network in
      let response = try await network.download(
        NetworkRequest(url.appendingPathComponent("none"), timeoutSeconds: .patience),
        to: folder.path("file"))
      #expect(response.status == 404)
      #expect(folder.files().isEmpty)
    }
  }

  @Test("An unreachable server, a timeout and a cancelled task are different errors")
  func failures() async throws {
    let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    try await serving(timeoutSeconds: nil) { router in
      router.get("silent") { _, _ in
        try await Task.sleep(for: .seconds(Patience.seconds))
        return "late"
      }
      router.get("waiting") { _, _ in
        arrival.yield()
        try await Task.sleep(for: .seconds(Patience.seconds))
        return "late"
      }
    } _: { url, network in
      let silent = url.appendingPathComponent("silent")
      await #expect(throws: NetworkFailure.timedOut) {
        try await network.send(NetworkRequest(silent, timeoutSeconds: 0.2))
      }
      let closed = try #require(URL(string: "http://127.0.0.1:1/"))
      await #expect(throws: NetworkFailure.unreachable) {
        try await network.send(NetworkRequest(closed, timeoutSeconds: .patience))
      }
      let waiting = url.appendingPathComponent("waiting")
      let patient = HTTPNetwork(ownMachineTimeoutSeconds: .patience)
      let work = Task { try await patient.send(NetworkRequest(waiting)) }
      // The request is in progress when it is cancelled.
      for await _ in arrivals { break }
      work.cancel()
      await #expect(throws: CancellationError.self) { try await work.value }
      await patient.shutdown()
    }
  }

  @Test("One deadline covers headers and body: requests to a server that stalls or drips time out")
  func stalling() async throws {
    let folder = try TemporaryFolder()
    try await serving(timeoutSeconds: nil) { router in
      router.get("stalls") { _, _ in
        Response(
          status: .ok,
          body: ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "first"))
            try await Task.sleep(for: .seconds(Patience.seconds))
            try await writer.finish(nil)
          })
      }
      router.get("drips") { _, _ in
        Response(
          status: .ok,
          body: ResponseBody { writer in
            for _ in 0..<100 * Patience.seconds {
              try await writer.write(ByteBuffer(string: "."))
              try await Task.sleep(for: .milliseconds(10))
            }
            try await writer.finish(nil)
          })
      }
    } _: { url, network in
      for path in ["stalls", "drips"] {
        let request = NetworkRequest(url.appendingPathComponent(path), timeoutSeconds: 0.3)
        await #expect(throws: NetworkFailure.timedOut) { try await network.send(request) }
        await #expect(throws: NetworkFailure.timedOut) {
          try await network.download(request, to: folder.path("file"))
        }
      }
    }
  }

  @Test("The timeout for the own machine does not apply to other servers")
  func ownMachine() async throws {
    let network = HTTPNetwork(ownMachineTimeoutSeconds: 1_800)
    for (address, seconds) in [
      ("http://127.0.0.1:8081/a", 1_800), ("http://localhost/a", 1_800),
      ("http://[::1]:1/a", 1_800),
      ("https://keys.example/a", 20), ("https://127.0.0.1.example/a", 20),
    ] {
      let request = NetworkRequest(try #require(URL(string: address)), timeoutSeconds: 20)
      #expect(network.timeout(of: request) == Double(seconds), "\(address)")
    }
    await network.shutdown()
  }

  @Test("The version of a response is returned, and a request with it gets 304")
  func conditional() async throws {
    try await serving { router in
      router.get("index") { request, _ in
        request.headers[.ifNoneMatch] == #""one""#
          ? Response(status: .notModified)
          : Response(status: .ok, headers: [.eTag: #""one""#], body: .init(byteBuffer: .init()))
      }
    } _: { url, network in
      let url = url.appendingPathComponent("index")
      let first = try await network.send(NetworkRequest(url, timeoutSeconds: .patience))
      let version = try #require(first.version)
      let second = try await network.send(
        NetworkRequest(url, headers: version.headers, timeoutSeconds: .patience))
      #expect(first.status == 200)
      #expect(second.status == 304)
    }
  }

  @Test(
    "A download to a full disk throws diskFull",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 64 << 10)
    try await serving { router in
      router.get("bytes") { _, _ in ByteBuffer(repeating: 7, count: 256 << 10) }
    } _: { url, network in
      let request = NetworkRequest(
        url.appendingPathComponent("bytes"), timeoutSeconds: .patience,
        responseBytesMax: DownloadLimit.fileBytesMax)
      await #expect(throws: NetworkFailure.diskFull) {
        try await network.download(request, to: disk.url.appendingPathComponent("file"))
      }
    }
  }
}

extension Double {
  fileprivate static let patience = Double(Patience.seconds)
}
