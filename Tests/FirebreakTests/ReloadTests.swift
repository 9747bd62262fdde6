import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Running servers: SIGHUP and a second server")
struct ReloadTests {
  /// A connection on which a test sends a request in parts.
  private struct Connection: ~Copyable {
    private let socket: Int32

    init(port: Int) throws { socket = try LocalSocket.connected(to: port) }

    deinit { close(socket) }

    func send(_ text: String) { Self.send(text, socket) }

    private static func send(_ text: String, _ socket: Int32) {
      let sent = Glibc.send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL))
      #expect(sent == text.utf8.count)
    }

    /// The first line of the next response; its other lines are discarded.
    ///
    /// - Parameter next: Returns what is sent next. It runs at once, on a thread of its own, because the server
    ///   limits the time for the rest of a request.
    func statusLine(then next: @escaping @Sendable () -> String? = { nil }) async -> String {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { [socket] in
          var limit = timeval(tv_sec: Patience.seconds, tv_usec: 0)
          setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
          var buffer = [UInt8](repeating: 0, count: 1 << 12)
          let count = max(recv(socket, &buffer, buffer.count, 0), 0)
          if let text = next() { Self.send(text, socket) }
          let text = String(decoding: buffer.prefix(count), as: UTF8.self)
          continuation.resume(returning: text.components(separatedBy: "\r\n")[0])
        }
      }
    }
  }

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

  @Test("SIGHUP reloads settings, secrets and log level, on the same ports")
  func reload() async throws {
    let authority = try await ServedAuthority(["keys/settings.json": Self.configuration(7)])
    #expect(try await version(authority) == 7)
    let added = try await authority.run("verification-server", "api-token", "--add").output
    let token = String(added.split(separator: "\n").last ?? "")
    let generate = "\(authority.verification)/generateCode"
    let body = #"{"data":{}}"#
    #expect(try await authority.post(generate, body, headers: ["api-token": token]).status == 403)
    #expect(try !authority.servers.errors().contains("GET "))
    try ServedAuthority.write(
      ["keys/settings.json": Self.configuration(8, #", "logLevel": "info""#)], in: authority.folder)
    authority.servers.send(SIGHUP)
    try await Patience.until { try await version(authority) == 8 }
    #expect(try await version(authority) == 8)
    #expect(try authority.servers.errors().contains("GET /remote-configuration.json 200"))
    #expect(try await authority.post(generate, body, headers: ["api-token": token]).status == 200)
    #expect(try await authority.servers.stop() == 0)
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

  @Test("A request in progress at SIGHUP gets its response")
  func inProgress() async throws {
    let authority = try await ServedAuthority(["keys/settings.json": Self.configuration(7)])
    try ServedAuthority.write(["keys/settings.json": Self.configuration(8)], in: authority.folder)
    let port = try #require(URL(string: authority.keys)?.port)
    let upload = try Connection(port: port)
    upload.send(
      """
      POST /uploadDiagnosisKeys HTTP/1.1\r
      host: localhost\r
      content-type: application/json\r
      content-length: 2\r
      expect: 100-continue\r
      \r

      """)
    let servers = authority.servers
    let first = await upload.statusLine {
      servers.send(SIGHUP)
      return "{}"
    }
    #expect(first.hasPrefix("HTTP/1.1 100"))
    #expect(await upload.statusLine().hasPrefix("HTTP/1.1 400"))
    try await Patience.until { try await version(authority) == 8 }
    #expect(try await authority.servers.stop() == 0)
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
