// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import TestSupport
import Testing
import World

@testable import Classroom

/// A class that serves while a test runs, and its browsers.
struct ClassRoom: Sendable {
  let port: Int
  let client: HTTPClient
  let teacher: ClassBrowser

  /// Rules with which everyone at the same place is near, and no infection is passed on.
  static let gentle: OutbreakRules = {
    var rules = OutbreakRules()
    rules.close = OutbreakRules.Reach(metres: 2, percentPerHour: 0)
    rules.near = OutbreakRules.Reach(metres: 12, percentPerHour: 0)
    rules.hoursUntilInfectious = 0
    return rules
  }()

  /// Serves while `body` runs.
  static func with(
    phonesMax: Int = 400, hoursMax: Int = ClassLimit.hoursMax, rules: OutbreakRules = gentle,
    clock: any WallClock = SystemClock(), _ body: (ClassRoom) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    var configuration = ClassroomConfiguration(
      folder: folder.url, port: 0, seed: 1, hosts: ["127.0.0.1", "class.example"])
    configuration.host = "127.0.0.1"
    configuration.phonesMax = phonesMax
    configuration.hoursMax = hoursMax
    configuration.rules = rules
    let room = try ClassroomService(
      configuration, clock: clock, randomness: SystemRandomness(),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let client = HTTPClient(
      eventLoopGroupProvider: .singleton, configuration: .loopback)
    let serving = Task { try await room.run() }
    let result: Result<Void, any Error>
    do {
      let port = await room.boundPort
      try #require(port > 0)
      let teacher = ClassBrowser(port: port, client: client)
      let address = try #require(URLComponents(string: await room.teacherAddress))
      let opened = try await teacher.get("/teacher?" + (address.query ?? ""))
      #expect(opened.status == 303 && opened.location == "/teacher")
      try await body(ClassRoom(port: port, client: client, teacher: teacher))
      result = .success(())
    } catch {
      result = .failure(error)
    }
    serving.cancel()
    _ = try? await serving.value
    try await client.shutdown()
    try result.get()
  }

  func browser() -> ClassBrowser { ClassBrowser(port: port, client: client) }

  /// A browser that has joined.
  func pupil() async throws -> ClassBrowser {
    let browser = browser()
    let joined = try await browser.post("/join")
    #expect(joined.status == 303 && joined.location == "/phone")
    return browser
  }

  /// Lets time pass and waits for its end.
  func pass(_ command: String) async throws {
    let before = try await time()
    #expect(try await teacher.post("/teacher/" + command).status == 303)
    try await Patience.until {
      let isRunning = try await isRunning()
      let now = try await time()
      return !isRunning && now != before
    }
  }

  private func isRunning() async throws -> Bool {
    try await teacher.get("/teacher").text.contains("Time is passing")
  }

  /// The time on the teacher's page.
  func time() async throws -> String {
    let text = try await teacher.get("/teacher").text
    return try String(#require(text.firstMatch(of: /Day \d+, \d\d:\d\d/)).0)
  }

  /// The row of a phone in the teacher's table, without markup.
  func row(_ number: Int) async throws -> String {
    let text = try await teacher.get("/teacher").text
    let start = try #require(text.range(of: "<th scope=\"row\">\(number)</th>"))
    let row = String(text[start.upperBound...].prefix { $0 != "\n" })
    return row.replacing(#/<[^>]*>/#, with: " ").replacing(#/ +/#, with: " ")
  }
}

/// A browser with its cookies.
final class ClassBrowser: Sendable {
  struct Reply: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let text: String

    var location: String? { headers.first(name: "location") }
  }

  private let port: Int
  private let client: HTTPClient
  private let jar: CookieJar

  init(port: Int, client: HTTPClient) {
    self.port = port
    self.client = client
    jar = CookieJar()
  }

  /// Another page of the same browser, which keeps the present cookies.
  init(copying other: ClassBrowser) async {
    (port, client) = (other.port, other.client)
    jar = CookieJar(await other.jar.cookies)
  }

  func get(
    _ path: String, host: String? = nil, language: String? = nil
  ) async throws -> Reply {
    var request = await request(path, host: host)
    if let language { request.headers.add(name: "Accept-Language", value: language) }
    return try await send(request)
  }

  func post(
    _ path: String, _ form: String = "", origin: String? = nil
  ) async throws -> Reply {
    var request = await request(path)
    request.method = .POST
    request.headers.add(name: "Origin", value: origin ?? "http://127.0.0.1:\(port)")
    request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
    request.body = .bytes(ByteBuffer(string: form))
    return try await send(request)
  }

  /// Reads events until `isEnough`, then closes the page.
  func events(_ path: String, until isEnough: (String) async throws -> Bool) async throws {
    // The end of a client closes its connections for certain.
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .loopback)
    let result: Result<Void, any Error>
    do {
      result = .success(try await read(path, with: client, until: isEnough))
    } catch {
      result = .failure(error)
    }
    try await client.shutdown()
    try result.get()
  }

  private func read(
    _ path: String, with client: HTTPClient, until isEnough: (String) async throws -> Bool
  ) async throws {
    let response = try await client.execute(
      request(path), timeout: .seconds(Int64(Patience.seconds)))
    #expect(response.headers.first(name: "content-type") == "text/event-stream; charset=utf-8")
    var text = ""
    for try await part in response.body {
      text += String(buffer: part)
      if try await isEnough(text) { return }
    }
  }

  private func request(_ path: String, host: String? = nil) async -> HTTPClientRequest {
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
    request.headers.add(name: "Host", value: host ?? "127.0.0.1:\(port)")
    if let cookie = await jar.header { request.headers.add(name: "Cookie", value: cookie) }
    return request
  }

  private func send(_ request: HTTPClientRequest) async throws -> Reply {
    let response = try await client.execute(request, timeout: .seconds(Int64(Patience.seconds)))
    await jar.store(response.headers["set-cookie"])
    let body = try await response.body.collect(upTo: 1 << 22)
    return Reply(
      status: Int(response.status.code), headers: response.headers, text: String(buffer: body))
  }
}

/// The cookies of a browser.
private actor CookieJar {
  private(set) var cookies: [String: String]

  init(_ cookies: [String: String] = [:]) { self.cookies = cookies }

  var header: String? {
    cookies.isEmpty ? nil : cookies.map { "\($0)=\($1)" }.sorted().joined(separator: "; ")
  }

  func store(_ fields: [String]) {
    for field in fields {
      let pair = field.split(separator: ";")[0].split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      cookies[String(pair[0])] = field.contains("Max-Age=0") ? nil : String(pair[1])
    }
  }
}
