// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// The sample configuration in Examples/Proxies with a real HAProxy before three processes on one PostgreSQL server.
@Suite("HAProxy before three processes", .needs(.process)) struct LoadBalancerTests {
  /// HAProxy with the sample configuration, in which only addresses, paths, the certificate and times are replaced.
  private final class Balancer {
    let address: String
    private let socket: String
    private let process: BackgroundProcess

    init(before servers: [ServedAuthority], in folder: TemporaryFolder) async throws {
      let port = try UnusedPort.find()
      address = "http://127.0.0.1:\(port)"
      socket = folder.path("admin.sock").path
      var text = try String(
        contentsOf: SharedData.projectRoot.appendingPathComponent("Examples/Proxies/haproxy.cfg"),
        encoding: .utf8)
      var values = [
        (
          "bind :443 ssl crt /etc/haproxy/certificates/ alpn h2,http/1.1", "bind 127.0.0.1:\(port)"
        ), ("/run/haproxy/admin.sock", socket),
      ]
      for (index, server) in servers.enumerated() {
        let (keys, codes) = (try Self.place(server.keys), try Self.place(server.verification))
        // The tests wait until HAProxy has noticed that the last one is not ready.
        let fall = index == servers.count - 1 ? " fall 2" : ""
        values.append(("10.0.0.1\(index + 1):8081", keys + fall))
        values.append(("10.0.0.1\(index + 1):8080", codes))
      }
      values += Self.patientTimes
      for (sample, value) in values {
        #expect(text.contains(sample), "the sample has no \(sample)")
        text = text.replacingOccurrences(of: sample, with: value)
      }
      let file = folder.path("haproxy.cfg")
      try Data(text.utf8).write(to: file)
      process = try await BackgroundProcess(
        URL(fileURLWithPath: "/usr/sbin/haproxy"), ["-db", "-f", file.path],
        output: folder.path("haproxy-output"))
      try await Patience.until {
        guard process.process.status == nil else {
          Issue.record("haproxy: \(try process.process.errors)")
          return true
        }
        return try await areChecked(servers.count)
      }
    }

    /// On a busy machine a server may take longer to respond, and to be ready, than operators would wait.
    private static let patientTimes: [(String, String)] =
      [
        "timeout connect 2s", "timeout client 30s", "timeout server 30s",
        "timeout http-request 10s",
        "timeout queue 10s", "timeout check 4s",
      ].map { sample in
        (sample, "\(sample.prefix { !$0.isNumber })\(Patience.seconds)s")
      } + [("inter 1s fall 2 rise 2", "inter 1s fall 30 rise 2")]

    /// True if the last check of each server has found it ready. Before the first check, HAProxy uses them all.
    private func areChecked(_ count: Int) async throws -> Bool {
      for name in ["keys", "verification"] {
        for number in 1...count {
          let check = try await fact(36, of: "\(name)/\(name)\(number)")
          guard check.contains("L7OK") else { return false }
        }
      }
      return true
    }

    /// The host and the port of an URL.
    static func place(_ url: String) throws -> String {
      let parts = try #require(URL(string: url))
      return "\(try #require(parts.host)):\(try #require(parts.port))"
    }

    /// Runs a command on the admin socket.
    @discardableResult
    func run(_ command: String) async throws -> String {
      let client = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(60)
        s.connect(sys.argv[1])
        s.sendall((sys.argv[2] + "\\n").encode())
        while True:
          data = s.recv(65536)
          if not data: break
          sys.stdout.write(data.decode())
        """
      return try await ChildProcess.run(
        URL(fileURLWithPath: "/usr/bin/python3"), ["-c", client, socket, command]
      ).output
    }

    /// The state of a server, such as `UP` or `DOWN`; empty before HAProxy listens.
    func status(of server: String) async throws -> String { try await fact(17, of: server) }

    /// The number of requests that a server was given.
    func requestCount(of server: String) async throws -> Int? {
      Int(try await fact(7, of: server))
    }

    /// A column of the statistics of a server; empty before HAProxy listens.
    private func fact(_ column: Int, of server: String) async throws -> String {
      let line = try await run("show stat").split(separator: "\n").first {
        $0.hasPrefix(server.replacingOccurrences(of: "/", with: ",") + ",")
      }
      let fields = line?.split(separator: ",", omittingEmptySubsequences: false) ?? []
      return fields.count > column ? String(fields[column]) : ""
    }

    /// Waits until HAProxy uses a server, or does not use it any more.
    func wait(for state: String, of server: String) async throws {
      try await Patience.until { try await status(of: server).hasPrefix(state) }
    }
  }

  private let cluster: PrivatePostgreSQL

  init() async throws {
    cluster = try await PrivatePostgreSQL()
    for server in ["verification", "keys", "console"] {
      try await cluster.createDatabase("firebreak_\(server)")
    }
  }

  private var arguments: [String] { ["--database", cluster.address() + " connect_timeout=60"] }

  /// Three processes with one set of secrets, and links to the key files of the first.
  private func three() async throws -> [ServedAuthority] {
    let settings = #"{"trustedProxies": ["127.0.0.1"]}"#
    let first = try await ServedAuthority(
      ["keys/settings.json": settings, "verification/settings.json": settings],
      arguments: arguments)
    var all = [first]
    for _ in 2...3 {
      let place = try TemporaryFolder()
      try FileManager.default.copyItem(at: first.folder.path("data"), to: place.path("data"))
      let exports = place.path("data/exports")
      try FileManager.default.removeItem(at: exports)
      try FileManager.default.createSymbolicLink(
        at: exports, withDestinationURL: first.folder.path("data/exports"))
      all.append(try await ServedAuthority(arguments: arguments, in: place))
    }
    return all
  }

  @Test(
    "All three processes are restarted one after the other, and no download or upload fails",
    .timeLimit(.minutes(Patience.minutes)))
  func rolling() async throws {
    let (authorities, folder) = (try await three(), try TemporaryFolder())
    var tokens: [String] = []
    for _ in 0..<9 { tokens.append(try await authorities[0].token()) }
    let balancer = try await Balancer(before: authorities, in: folder)
    let (stop, answers) = (folder.path("stop"), folder.path("answers"))
    let load = try await BackgroundProcess(
      URL(fileURLWithPath: "/bin/bash"),
      [
        "-c",
        "while [ ! -e '\(stop.path)' ]; do"
          + " curl -s -m 60 -o /dev/null -w '%{http_code}\\n' '\(balancer.address)/index.txt'; done",
      ], output: answers)
    var restarted: [ServedFirebreak] = []
    var statuses: [Int] = []
    func upload() async throws {
      statuses.append(
        try await authorities[0].upload(token: tokens.removeLast(), at: balancer.address).status)
    }
    for (index, authority) in authorities.enumerated() {
      let names = ["keys/keys\(index + 1)", "verification/verification\(index + 1)"]
      for name in names { try await balancer.run("set server \(name) state drain") }
      try await upload()
      #expect(try await authority.servers.stop() == 0)
      try await upload()
      let servers = try await ServedFirebreak(folder: authority.folder, arguments)
      restarted.append(servers)
      let addresses = try await servers.addresses()
      // The new process has other ports, because those of tests are free ones.
      for (name, server) in zip(names, ["keys", "verification"]) {
        let parts = try Balancer.place(try #require(addresses[server])).split(separator: ":")
        try await balancer.run("set server \(name) addr \(parts[0]) port \(parts[1])")
        try await balancer.run("set server \(name) state ready")
        try await balancer.wait(for: "UP", of: name)
      }
      try await upload()
    }
    func codes() throws -> [Substring] {
      try String(contentsOf: answers, encoding: .utf8).split(separator: "\n")
    }
    try await Patience.until { try codes().count > 20 }
    try Data().write(to: stop)
    try await Patience.until { load.process.status != nil }
    let all = try codes()
    #expect(Set(all) == ["200"], "\(all)")
    #expect(statuses == Array(repeating: 200, count: 9))
    #expect(try await cluster.run("SELECT count(*) FROM upload", in: "firebreak_keys") == 9)
    for servers in restarted { #expect(try await servers.stop() == 0) }
  }

  @Test("A process gets no requests while it is not ready, and codes have a name of their own")
  func readiness() async throws {
    let (authorities, folder) = (try await three(), try TemporaryFolder())
    let balancer = try await Balancer(before: authorities, in: folder)
    let exports = authorities[2].folder.path("data/exports")
    let target = try FileManager.default.destinationOfSymbolicLink(atPath: exports.path)
    // It can write no files. A missing folder would be created again by the process that exports.
    let other = authorities[2].folder.path("data/other")
    try Data().write(to: other)
    #expect(rename(other.path, exports.path) == 0)
    try await balancer.wait(for: "DOWN", of: "keys/keys3")
    let count = try await balancer.requestCount(of: "keys/keys3")
    for _ in 0..<9 {
      #expect(try await authorities[0].servers.get(balancer.address, "/index.txt").status == 200)
    }
    #expect(count != nil)
    #expect(try await balancer.requestCount(of: "keys/keys3") == count)
    try FileManager.default.createSymbolicLink(
      atPath: other.path, withDestinationPath: target)
    #expect(rename(other.path, exports.path) == 0)
    try await balancer.wait(for: "UP", of: "keys/keys3")
    // The servers ignore empty parts of a path.
    for path in ["/ready", "/health", "//ready", "/ready/", "///health//", "//ready?a=b"] {
      #expect(try await authorities[0].servers.get(balancer.address, path).status == 404, "\(path)")
    }
    let body = #"{"data":{"code":"not a code"}}"#
    let codes = try await authorities[0].post(
      "\(balancer.address)/getAccessToken", body, headers: ["host": "codes.example.org"])
    #expect(codes.error?["message"] as? String == "Invalid code")
    let keys = try await authorities[0].post("\(balancer.address)/getAccessToken", body)
    #expect(keys.status == 404 && keys.error?["message"] as? String != "Invalid code")
    for authority in authorities { #expect(try await authority.servers.stop() == 0) }
  }
}
