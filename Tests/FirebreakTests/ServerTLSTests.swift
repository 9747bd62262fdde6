// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServedSystem
import TestSupport
import Testing
import World

@Suite("Servers with TLS", .needs(.process))
struct ServerTLSTests {
  private let folder: TemporaryFolder
  private var certificate: String { folder.path("server.pem").path }
  private var key: String { folder.path("server.key").path }

  init() throws { folder = try TemporaryFolder() }

  /// Makes a certificate that signs itself, with its key, valid for `days`.
  private func make(_ name: String, days: Int = 90, _ algorithm: String = "ec") async throws {
    let options =
      algorithm == "ec" ? "-newkey ec -pkeyopt ec_paramgen_curve:P-256" : "-newkey rsa:2048"
    let made = try await Shell.run(
      "openssl req -x509 \(options) -nodes -days \(days) -subj /CN=localhost"
        + " -addext subjectAltName=IP:127.0.0.1 -keyout '\(folder.path(name + ".key").path)'"
        + " -out '\(folder.path(name + ".pem").path)' && chmod 600 '\(folder.path(name + ".key").path)'"
    )
    #expect(made.status == 0, "\(made.errors)")
  }

  /// Puts the certificate and the key of `name` at the places of the server's.
  private func use(certificate name: String, key other: String? = nil) throws {
    for (from, to) in [("\(name).pem", certificate), ("\(other ?? name).key", key)] {
      try Data(contentsOf: folder.path(from)).write(to: URL(fileURLWithPath: to))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: to)
    }
  }

  private var options: [String] {
    [
      "--tls-port", "0", "--tls-host", "127.0.0.1", "--tls-certificate", certificate, "--tls-key",
      key,
    ]
  }

  /// The address of `server` with TLS.
  private func address(of server: String, _ servers: ServedFirebreak) throws -> String {
    let line = try String(contentsOf: servers.output, encoding: .utf8).split(separator: "\n").first
    let json = try JSONSerialization.jsonObject(with: Data((line ?? "").utf8)) as? [String: Any]
    return try #require((json?["tls"] as? [String: String])?[server])
  }

  /// The status of a request that trusts the certificate of `name` only; 0 if there is no connection.
  private func status(_ url: String, trusting name: String, _ options: String = "") async throws
    -> Int
  {
    let run = try await Shell.run(
      "curl -s -o /dev/null -w '%{http_code}' \(options) --cacert '\(folder.path(name + ".pem").path)' '\(url)'"
    )
    return Int(run.output) ?? 0
  }

  @Test(
    "All servers answer with TLS 1.2 and 1.3, with keys of both kinds, and plainly as before",
    arguments: ["ec", "rsa"])
  func served(algorithm: String) async throws {
    try await make("first", algorithm)
    try use(certificate: "first")
    let servers = try await ServedFirebreak(folder: folder, options)
    defer { withExtendedLifetime(servers) {} }
    let plain = try await servers.addresses()
    for (server, path) in [
      ("verification", "/health"), ("keys", "/index.txt"), ("console", "/health"),
    ] {
      let secured = try address(of: server, servers)
      #expect(secured.hasPrefix("https://127.0.0.1:"))
      for version in ["--tls-max 1.2", "--tlsv1.3"] {
        #expect(
          try await status(secured + path, trusting: "first", version) == 200,
          "\(server) \(version)")
      }
      #expect(try await servers.get(plain[server], path).status == 200)
    }
    let secured = try address(of: "keys", servers)
    let old = try await status(
      secured + "/health", trusting: "first", "--tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0")
    #expect(old == 0)
    #expect(
      try await status(secured.replacing("https", with: "http") + "/health", trusting: "first")
        != 200)
    // A body of an upload arrives, and is refused as without TLS.
    let upload = try await status(
      secured + "/uploadDiagnosisKeys", trusting: "first",
      "-H 'content-type: application/json' -d '{\"data\": {}}'")
    #expect(upload == 400)
    #expect(try await servers.stop() == 0)
  }

  @Test(
    "SIGHUP takes a new certificate; with files that do not fit, the old one stays and a line says why"
  )
  func reloaded() async throws {
    let receiver = try DatagramReceiver(path: folder.path("notify").path)
    for name in ["first", "second"] { try await make(name) }
    try use(certificate: "first")
    let servers = try await ServedFirebreak(
      folder: folder, options, environment: ["NOTIFY_SOCKET": folder.path("notify").path])
    defer { withExtendedLifetime(servers) {} }
    _ = try await servers.addresses()
    let health = try address(of: "keys", servers) + "/health"
    var messages: [String] = []
    func reload(_ count: Int) async throws {
      servers.send(SIGHUP)
      try await Patience.until {
        messages += receiver.all()
        return messages.count { $0.hasPrefix("READY=1") } == count
      }
    }
    #expect(try await status(health, trusting: "first") == 200)
    try use(certificate: "second")
    try await reload(2)
    #expect(try await status(health, trusting: "second") == 200)
    #expect(try await status(health, trusting: "first") == 0)
    try use(certificate: "first", key: "second")
    try await reload(3)
    #expect(try await status(health, trusting: "second") == 200)
    #expect(messages.last { $0.hasPrefix("READY=1") }?.contains("were not reloaded") == true)
    let errors = try servers.errors()
    #expect(errors.contains("is not the key of"), "\(errors)")
    // Of the start and the reload that succeeded; the other one has one line only.
    let notes = errors.split(separator: "\n").count { $0.contains("device verification") }
    #expect(notes == 2, "\(errors)")
    #expect(try await servers.stop() == 0)
  }

  @Test("Files that cannot be used end the start with one line that names them, and create nothing")
  func refused() async throws {
    try await make("first")
    try await make("other")
    try Data("no certificate".utf8).write(to: folder.path("text.pem"))
    func run(_ options: [String]) async throws -> Run {
      try await Run(["serve", "--port", "0", "--data", folder.path("data").path] + options)
    }
    func files(_ certificate: String, _ key: String) -> [String] {
      [
        "--tls-port", "0", "--tls-certificate", folder.path(certificate).path, "--tls-key",
        folder.path(key).path,
      ]
    }
    try FileManager.default.copyItem(at: folder.path("first.key"), to: folder.path("open.key"))
    _ = try await Shell.run("chmod 644 '\(folder.path("open.key").path)'")
    for (options, fault) in [
      (["--tls-port", "0"], "together"),
      (["--tls-host", "127.0.0.1"], "--tls-host has no effect"),
      (files("none.pem", "first.key"), "none.pem"),
      (files("text.pem", "first.key"), "has no certificate"),
      (files("first.pem", "none.key"), "none.key"),
      (files("first.pem", "first.pem"), "first.pem"),
      (files("first.pem", "other.key"), "is not the key of"),
      (files("first.pem", "open.key"), "chmod 600"),
    ] {
      let run = try await run(options)
      #expect(run.status == 2 && run.errors.contains(fault), "\(options): \(run.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder.path("data").path))
    }
  }

  @Test("A metric has the end of the certificate in use, which changes with SIGHUP")
  func measured() async throws {
    let receiver = try DatagramReceiver(path: folder.path("notify").path)
    try await make("first", days: 90)
    try await make("second", days: 180)
    try use(certificate: "first")
    let servers = try await ServedFirebreak(
      folder: folder, options + ["--metrics-port", "0"],
      environment: ["NOTIFY_SOCKET": folder.path("notify").path])
    defer { withExtendedLifetime(servers) {} }
    let address = try #require(try await servers.addresses()["metrics"])
    func days() async throws -> Double {
      let response = try await servers.get(address, MetricsEndpoint.path)
      let text = String(decoding: response.body, as: UTF8.self)
      let name = "\nfirebreak_tls_certificate_expiry_timestamp_seconds "
      let start = try #require(text.range(of: name), "\(text)")
      let end = Double(text[start.upperBound...].prefix { $0 != "\n" })
      return (try #require(end) - SystemClock().now.timeIntervalSince1970) / 86_400
    }
    #expect(try await (89...90).contains(days()))
    try use(certificate: "second")
    var messages: [String] = []
    servers.send(SIGHUP)
    try await Patience.until {
      messages += receiver.all()
      return messages.count { $0.hasPrefix("READY=1") } == 2
    }
    #expect(try await (179...180).contains(days()))
    #expect(try await servers.stop() == 0)
  }

  @Test("A certificate that is not valid yet is told at the start")
  func early() async throws {
    let configuration = """
      [ca]
      default_ca = own
      [own]
      database = index
      serial = serial
      new_certs_dir = .
      default_md = sha256
      policy = names
      [names]
      commonName = supplied

      """
    try Data(configuration.utf8).write(to: folder.path("ca.conf"))
    let made = try await Shell.run(
      "cd '\(folder.url.path)' && : > index && echo 01 > serial"
        + " && openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost"
        + " -keyout early.key -out early.csr && openssl ca -selfsign -batch -notext -config ca.conf"
        + " -keyfile early.key -in early.csr -out early.pem -startdate 20990101000000Z"
        + " -enddate 21000101000000Z")
    #expect(made.status == 0, "\(made.errors)")
    try use(certificate: "early")
    let servers = try await ServedFirebreak(folder: folder, options)
    defer { withExtendedLifetime(servers) {} }
    _ = try await servers.addresses()
    let errors = try servers.errors()
    #expect(errors.contains("is not valid before 2099-01-01"), "\(errors)")
    #expect(try await servers.stop() == 0)
  }

  @Test("A certificate that expires within two weeks is told at the start")
  func expiring() async throws {
    try await make("first", days: 13)
    try use(certificate: "first")
    let servers = try await ServedFirebreak(folder: folder, options)
    defer { withExtendedLifetime(servers) {} }
    _ = try await servers.addresses()
    let errors = try servers.errors()
    #expect(errors.contains("expires at"), "\(errors)")
    #expect(try await servers.stop() == 0)
  }
}
