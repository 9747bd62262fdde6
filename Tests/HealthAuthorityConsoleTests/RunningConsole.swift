// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// A console on the loopback interface, with a manual clock and a simulated authority.
struct RunningConsole {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)

  let clock: ManualClock
  /// The clock of the simulated authority's servers.
  let serviceClock: ManualClock
  let log: CollectedLog
  let authority: SimulatedAuthority
  let console: HealthAuthorityConsole
  let administration: ConsoleAdministration
  let port: Int
  private let services: ServiceGroup
  /// Open when the console has ended.
  private let stopped: Gate

  /// Starts a console with its database in `folder`, runs `test`, and stops the console.
  static func run(
    in folder: URL, authority: any AdministeredAuthority = SimulatedAuthority(),
    configure: (inout ConsoleConfiguration) -> Void = { _ in },
    _ test: (RunningConsole) async throws -> Void
  ) async throws {
    let (clock, serviceClock, log) = (ManualClock(start), ManualClock(start), CollectedLog())
    var configuration = ConsoleConfiguration(
      databaseFile: folder.appendingPathComponent("console.sqlite"),
      secret: Data(repeating: 7, count: ConsoleConfiguration.secretBytes))
    configuration.scryptCostLog = 4
    configure(&configuration)
    let administration = try ConsoleAdministration(
      configuration, clock: clock, randomness: SystemRandomness())
    let console = try HealthAuthorityConsole(
      configuration, authority: authority, clock: clock, serviceClock: serviceClock,
      randomness: SystemRandomness(), logger: log.logger)
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let services = ServiceGroup(configuration: .init(services: [console], logger: quiet))
    let stopped = Gate()
    let run = Task {
      defer { stopped.open() }
      try await services.run()
    }
    defer { run.cancel() }
    try await test(
      RunningConsole(
        clock: clock, serviceClock: serviceClock, log: log,
        authority: authority as? SimulatedAuthority ?? SimulatedAuthority(),
        console: console, administration: administration, port: await console.boundPort,
        services: services, stopped: stopped))
    run.cancel()
    _ = await run.result
  }

  /// Starts a console with two independent administrators, calls `prepare` and `test`, and stops the console.
  static func runWithAdministrators(
    _ first: String = "Anna", _ second: String = "Berta", in folder: URL,
    prepare: (RunningConsole) async throws -> Void = { _ in },
    _ test: (_ console: RunningConsole, _ anna: ConsoleBrowser, _ berta: ConsoleBrowser)
      async throws -> Void
  ) async throws {
    try await run(in: folder) { console async throws in
      let anna = try await console.signedIn(.administrator, name: first)
      let berta = try await console.signedIn(.administrator, name: second)
      try await prepare(console)
      try await test(console, anna, berta)
    }
  }

  /// Starts the shutdown of a signal, and waits until the console does not listen any more.
  func shutDown() async {
    await services.triggerGracefulShutdown()
    await console.waitUntilClosed()
  }

  /// Waits until the console has ended.
  func waitUntilStopped() async throws { try await stopped.wait() }

  /// A browser without a session.
  func browser(language: String = "en") -> ConsoleBrowser {
    ConsoleBrowser(port: port, language: language)
  }

  /// Requests a change with a new administrator, and approves it with `approver`.
  ///
  /// - Returns: The response to the approval.
  func change(
    _ path: String, _ fields: [String: String] = [:], approvedBy approver: ConsoleBrowser
  ) async throws -> ConsoleBrowser.Response {
    let requester = try await signedIn(
      .administrator, name: "Requester \(UUID().uuidString.prefix(8))")
    let number = try await requester.request(path, fields)
    return try await approver.post("/changes/\(number)/approve", [:])
  }

  /// Adds an account with a link that `administrator` approves and sees, uses the link, and signs in.
  func signedIn(
    _ role: Role, name: String, invitedBy administrator: ConsoleBrowser
  ) async throws -> ConsoleBrowser {
    let created = try await change(
      "/accounts", ["name": name, "role": role.rawValue], approvedBy: administrator)
    let path = try #require(created.linkPath)
    let browser = browser()
    let generator = try #require(try await browser.get(path).generator)
    func code() -> String {
      generator.code(step: CodeGenerator.step(at: clock.now.unixSecond))
    }
    let password = "correct horse battery"
    let done = try await browser.post(path, ["password": password, "code": code()])
    try #require(done.status == 200, "\(done.text)")
    clock.advance(by: 30)
    let response = try await browser.post(
      "/sign-in", ["name": name, "password": password, "code": code()])
    try #require(response.status == 303, "\(response.text)")
    return browser
  }

  /// Adds an account and signs in.
  func signedIn(
    _ role: Role, name: String? = nil, language: String = "en"
  ) async throws -> ConsoleBrowser {
    let credentials = try await administration.addAccount(
      name: name ?? role.rawValue, role: role)
    let browser = browser(language: language)
    let response = try await browser.signIn(credentials, at: clock.now)
    try #require(response.status == 303, "\(response.text)")
    return browser
  }
}

/// A browser without scripts: it keeps cookies, and does not follow redirections.
final class ConsoleBrowser: Sendable {
  let port: Int
  let language: String
  private let cookies = Mutex<[String: String]>([:])

  init(port: Int, language: String = "en") {
    self.port = port
    self.language = language
  }

  struct Response {
    let status: Int
    let headers: [String: String]
    let text: String

    /// The value of a hidden field.
    func field(_ name: String) -> String {
      text.firstMatch(of: Self.pattern(#"name="\#(name)" value="([^"]*)""#)).flatMap {
        $0.output[1].substring.map(String.init)
      } ?? ""
    }

    /// The code generator on the page of a one-time link.
    var generator: CodeGenerator? { element("key").flatMap { CodeGenerator(typed: $0) } }

    /// The path of a one-time link.
    var linkPath: String? { element("link").flatMap { URL(string: $0)?.path } }

    /// The text of the element with an id.
    func element(_ id: String) -> String? {
      text.firstMatch(of: Self.pattern(#"id="\#(id)"[^>]*>([^<]*)<"#)).flatMap {
        $0.output[1].substring.map(String.init)
      }
    }

    private static func pattern(_ text: String) -> Regex<AnyRegexOutput> {
      (try? Regex(text)) ?? Regex(verbatim: "")
    }
  }

  var cookieNames: [String] { cookies.withLock { $0.keys.sorted() } }

  /// Copies the cookies to another browser, as a thief would.
  func forget() { cookies.withLock { $0 = [:] } }

  func get(_ path: String) async throws -> Response {
    try await send("GET", path, nil, [:])
  }

  /// Sends a form with the fields of `fields`. The token of the session is added unless it is among them.
  func post(
    _ path: String, _ fields: [String: String], headers: [String: String] = [:]
  ) async throws -> Response {
    var fields = fields
    if fields["form-token"] == nil, !cookieNames.isEmpty {
      fields["form-token"] = try await get("/own").field("form-token")
    }
    if fields["effect"] == nil, let match = path.wholeMatch(of: /\/changes\/(\d+)\/approve/) {
      fields["effect"] = try await effect(of: String(match.1))
    }
    let body = fields.map { "\(Self.encoded($0.key))=\(Self.encoded($0.value))" }
      .joined(separator: "&")
    let type = ["content-type": "application/x-www-form-urlencoded"]
    return try await send("POST", path, Data(body.utf8), type.merging(headers) { $1 })
  }

  /// The effect of a request as the page shows it now, for its approval.
  func effect(of number: String) async throws -> String {
    let pattern = try Regex(#"id="effect-\#(number)" name="effect" value="([0-9a-f]*)""#)
    let match = try await get("/changes").text.firstMatch(of: pattern)
    return match?.output[1].substring.map(String.init) ?? ""
  }

  /// Sends a form, and the form on the page with its effect.
  ///
  /// - Returns: The response to the request.
  func ask(
    _ path: String, _ fields: [String: String] = [:], reason: String = "because",
    when: String = ""
  ) async throws -> Response {
    let page = try await post(path, fields)
    try #require(page.status == 200, "\(page.text)")
    let change = page.field("change").replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
    return try await post("/changes", ["change": change, "reason": reason, "when": when])
  }

  /// Requests a change.
  ///
  /// - Returns: The number of the request.
  func request(_ path: String, _ fields: [String: String] = [:]) async throws -> Int {
    let response = try await ask(path, fields)
    try #require(response.element("notice") != nil, "\(response.text)")
    let numbers = response.text.matches(of: /id="change-(\d+)"/).compactMap { Int($0.1) }
    return try #require(numbers.max())
  }

  func send(
    _ method: String, _ path: String, _ body: Data?, _ headers: [String: String]
  ) async throws -> Response {
    var fields = ["accept-language": language]
    let cookie = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
    if !cookie.isEmpty { fields["cookie"] = cookie }
    let response = try await LoopbackClient.send(
      method, "http://127.0.0.1:\(port)\(path)",
      headers: fields.merging(headers) { $1 }.map { ($0.key, $0.value) }, body: body)
    keep(response.headers["set-cookie"])
    return Response(status: response.status, headers: response.headers, text: response.text)
  }

  func signIn(
    _ credentials: ConsoleAdministration.Credentials, at time: Date, password: String? = nil
  ) async throws -> Response {
    let generator = try #require(Self.generator(credentials))
    return try await post(
      "/sign-in",
      [
        "name": credentials.name, "password": password ?? credentials.password,
        "code": generator.code(step: CodeGenerator.step(at: time.unixSecond)),
      ])
  }

  /// The code generator of credentials, as an app reads it from their address.
  static func generator(_ credentials: ConsoleAdministration.Credentials) -> CodeGenerator? {
    CodeGenerator(typed: credentials.codeSecret)
  }

  private func keep(_ header: String?) {
    guard let pair = header?.split(separator: ";").first?.split(separator: "=", maxSplits: 1),
      let name = pair.first.map(String.init)
    else { return }
    let value = pair.count == 2 ? String(pair[1]) : ""
    cookies.withLock { $0[name] = value.isEmpty ? nil : value }
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
