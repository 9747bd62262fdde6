// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import Synchronization
import TestSupport
import Testing
import VerificationServer

@Suite("Running servers: SIGHUP and a second server", .needs(.process))
struct ReloadTests {
  private static func configuration(_ version: Int, _ rest: String = "") -> String {
    #"{"remoteConfiguration": {"version": \#(version)}\#(rest)}"#
  }

  /// The version of the remote configuration that the key server publishes; nil while no server listens, which is
  /// possible for a moment after SIGHUP.
  private func version(_ authority: ServedAuthority) async throws -> Int? {
    let response = try await authority.servers.get(authority.keys, "/remote-configuration.json")
    guard response.status == 200 else { return nil }
    let wire = try JSONSerialization.jsonObject(with: response.body) as? [String: Any]
    let payload = (wire?["payload"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
    let json = try JSONSerialization.jsonObject(with: payload) as? [String: Any]
    return json?["version"] as? Int
  }

  @Test("SIGHUP reloads settings and log level, on the same ports")
  func reload() async throws {
    let authority = try await ServedAuthority(["keys/settings.json": Self.configuration(7)])
    #expect(try await version(authority) == 7)
    #expect(try !authority.servers.errors().contains("GET "))
    try ServedAuthority.write(
      ["keys/settings.json": Self.configuration(8, #", "logLevel": "info""#)], in: authority.folder)
    authority.servers.send(SIGHUP)
    try await Patience.until { try await version(authority) == 8 }
    #expect(try await version(authority) == 8)
    #expect(try authority.servers.errors().contains("GET /remote-configuration.json 200"))
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("SIGHUP reads the secrets again that the settings name, also twice, or keeps the old ones")
  func secrets() async throws {
    let gateway = try StandInAuthority(.init(status: 201, body: "{}"))
    let token = "verification/gateway-token"
    let authority = try await ServedAuthority([
      "keys/settings.json": Self.configuration(1),
      "verification/settings.json": """
      {"sms": {"region": "PL", "gateway": {"baseURL": "\(gateway.address)", "account": "AC1",
        "tokenFile": "gateway-token", "from": "+48500"}}}
      """, token: "secret 1\n",
    ])
    let key = try await authority.apiKey("admin")
    func usedSecret() async throws -> String? {
      let phone = "+4812345678\(gateway.requests.count)"
      let isIssued = try await Self.untilInTime {
        try await authority.post(
          "\(authority.verification)/api/issue", #"{"testType":"confirmed","phone":"\#(phone)"}"#,
          headers: ["X-API-Key": key]
        ).status == 200
      }
      #expect(isIssued)
      let basic = gateway.requests.last?.headers["authorization"]?.split(separator: " ").last
      return basic.flatMap { Data(base64Encoded: String($0)) }
        .map { String(decoding: $0, as: UTF8.self) }
    }
    for number in 2...3 {
      try ServedAuthority.write(
        ["keys/settings.json": Self.configuration(number), token: "secret \(number)\n"],
        in: authority.folder)
      #expect(try await usedSecret() == "AC1:secret \(number - 1)")
      authority.servers.send(SIGHUP)
      try await Patience.until { try await version(authority) == number }
      #expect(try await usedSecret() == "AC1:secret \(number)")
    }
    try FileManager.default.removeItem(at: authority.folder.path("data/\(token)"))
    authority.servers.send(SIGHUP)
    try await Patience.until { try authority.servers.errors().contains("were not reloaded") }
    #expect(try authority.servers.errors().contains("gateway-token"))
    #expect(try await usedSecret() == "AC1:secret 3")
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("SIGHUP while the servers start does not end them")
  func starting() async throws {
    let folder = try TemporaryFolder()
    let database = try LocalListener()
    let address = "postgresql://u@127.0.0.1:\(database.port)/?sslmode=disable&connect_timeout=60"
    try await ChildProcess.withRunning(
      Run.product(),
      ["serve", "--port", "0", "--data", folder.path("data").path, "--database", address]
    ) { process in
      // The start waits for an answer of the database.
      try await Patience.until { database.hasConnection }
      process.send(SIGHUP)
      database.stop()
      #expect(try await process.wait() == 3)
    }
  }

  @Test("If the new settings are invalid, the servers keep the old ones and log the reason")
  func invalid() async throws {
    let authority = try await ServedAuthority(["keys/settings.json": Self.configuration(7)])
    try ServedAuthority.write(["keys/settings.json": #"{"colour": 1}"#], in: authority.folder)
    authority.servers.send(SIGHUP)
    try await Patience.until { try authority.servers.errors().contains("colour") }
    #expect(try authority.servers.errors().contains("the settings were not reloaded"))
    #expect(try await version(authority) == 7)
    #expect(try await authority.servers.stop() == 0)
  }

  /// Sends SIGHUP and waits until the old server stops, which closes `idle`, a connection without a request.
  ///
  /// It waits for at most half of the time that an SMS gateway has, so that the gateway responds in time.
  private static func reload(_ servers: ServedFirebreak, idle: Int32) {
    servers.send(SIGHUP)
    var limit = timeval(tv_sec: Int(VerificationLimit.smsSecondsMax) / 2, tv_usec: 0)
    setsockopt(idle, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var byte: UInt8 = 0
    recv(idle, &byte, 1, 0)
  }

  /// Repeats an attempt in which the gateway of the test took longer than servers wait for one.
  private static func untilInTime(
    _ attempt: nonisolated(nonsending) () async throws -> Bool
  ) async throws -> Bool {
    try await Patience.succeeds(within: Int(VerificationLimit.smsSecondsMax), attempt)
  }

  @Test("A request in progress at SIGHUP gets its response")
  func inProgress() async throws {
    let isAnswered = try await Self.untilInTime { try await answersRequestInProgress() }
    #expect(isAnswered)
  }

  /// True if a request that waits for a gateway at SIGHUP gets its response.
  private func answersRequestInProgress() async throws -> Bool {
    let served = Mutex<(servers: ServedFirebreak, idle: Int32)?>(nil)
    let gateway = try StandInServer { _ in
      if let served = served.withLock({ $0 }) { Self.reload(served.servers, idle: served.idle) }
      return StandInServer.Response(status: 201, body: "{}")
    }
    defer { withExtendedLifetime(gateway) {} }
    let authority = try await ServedAuthority([
      "keys/settings.json": Self.configuration(7),
      "verification/settings.json": """
      {"sms": {"region": "PL", "gateway": {"baseURL": "\(gateway.address)", "account": "AC1",
        "tokenFile": "gateway-token", "from": "+48500"}}}
      """, "verification/gateway-token": "top secret\n",
    ])
    let servers = authority.servers
    let port = try #require(URL(string: authority.verification)?.port)
    let key = try await authority.apiKey("admin")
    try ServedAuthority.write(["keys/settings.json": Self.configuration(8)], in: authority.folder)
    // Accepted before the connection of the request, which the reload interrupts.
    let idle = try LocalSocket.connected(to: port)
    defer { close(idle) }
    served.withLock { $0 = (servers: servers, idle: idle) }
    // The response is sent after that of the gateway.
    let response = try await authority.post(
      "\(authority.verification)/api/issue", #"{"testType":"confirmed","phone":"+48123456789"}"#,
      headers: ["X-API-Key": key])
    try await Patience.until { try await version(authority) == 8 }
    #expect(try await version(authority) == 8)
    #expect(try await authority.servers.stop() == 0)
    return response.status == 200
  }

  @Test("A second server on the same folder is refused in one line; one on the other half is not")
  func second() async throws {
    let folder = try TemporaryFolder()
    let first = try await ServedFirebreak(folder: folder, ["--only", "verification"])
    let address = try #require(try await first.addresses()["verification"])
    for only in [[], ["--only", "verification"]] {
      let run = try await Run(["serve", "--data", first.data, "--port", "0", "--json"] + only)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.contains("already runs"))
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }
    let other = try await BackgroundProcess(
      try Run.product(), ["serve", "--data", first.data, "--port", "0", "--json", "--only", "keys"])
    #expect(try await other.process.firstLine()?.contains("ready") == true)
    #expect(try await other.process.terminate() == 0)
    #expect(try await first.get(address, "/openapi.json").status == 200)
    #expect(try await first.stop() == 0)
    // The lock ends with the process.
    let again = try await ServedFirebreak(folder: folder, ["--only", "verification"])
    #expect(try await again.addresses().count == 1)
    #expect(try await again.stop() == 0)
  }
}
