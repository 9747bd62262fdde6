// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// A proxy with its sample configuration in Examples/Proxies, before a real key server. Only addresses, paths, the
/// certificate and timeouts are replaced.
final class SampleProxy {
  enum Kind: String {
    case nginx = "nginx.conf"
    case caddy = "Caddyfile"
  }

  /// The values that a test has in the places of those of a sample.
  private struct Place {
    let port: Int
    /// The port of the key server.
    let keyServerPort: Int
    let certificate: URL
    let key: URL
    let folder: TemporaryFolder

    var address: String { "https://localhost:\(port)" }
  }

  let address: String
  private let certificate: URL
  /// The file of its messages.
  private let log: URL
  private let process: BackgroundProcess

  /// Starts a proxy before the key server at the address `keys`, and waits until it passes requests on.
  private init(_ kind: Kind, before keys: String, in folder: TemporaryFolder) async throws {
    let place = Place(
      port: try UnusedPort.find(), keyServerPort: try #require(URL(string: keys)?.port),
      certificate: folder.path("certificate.pem"), key: folder.path("key.pem"), folder: folder)
    (address, certificate, log) = (place.address, place.certificate, folder.path("proxy.log"))
    try await Self.makeCertificate(place)
    let file = folder.path(kind.rawValue)
    try Data(Self.configuration(kind, place).utf8).write(to: file)
    process = try await BackgroundProcess(
      URL(fileURLWithPath: "/bin/sh"),
      // Both proxies write their messages to stderr.
      ["-c", #"exec "$0" "$@" 2>&1"#] + Self.command(kind, file),
      environment: Run.environment(adding: [
        "XDG_DATA_HOME": folder.path("caddy").path, "XDG_CONFIG_HOME": folder.path("caddy").path,
      ]), output: log)
    try await Patience.until {
      guard process.process.status == nil else {
        Issue.record("\(kind): \(try messages())")
        return true
      }
      return try await curl("-o /dev/null -w '%{http_code}'", "/index.txt").output == "200"
    }
  }

  /// Runs `body` with a proxy before a key server that trusts it, and admits three failed uploads of an address.
  static func with(
    _ kind: Kind, _ body: (SampleProxy, ServedAuthority) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let authority = try await ServedAuthority(
      ["keys/settings.json": #"{"trustedProxies": ["127.0.0.1"], "uploadAttempts": 3}"#])
    try await body(try await SampleProxy(kind, before: authority.keys, in: folder), authority)
    _ = try await authority.servers.stop()
  }

  private static func makeCertificate(_ place: Place) async throws {
    let made = try await Shell.run(
      """
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
      -addext subjectAltName=DNS:localhost -keyout '\(place.key.path)' -out '\(place.certificate.path)' 2>&1
      """)
    #expect(made.status == 0, "\(made.output)")
  }

  private static func configuration(_ kind: Kind, _ place: Place) throws -> String {
    var text = try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent(
        "Examples/Proxies/\(kind.rawValue)"),
      encoding: .utf8)
    let changes =
      switch kind {
      case .nginx: nginxChanges(place)
      case .caddy: caddyChanges(place)
      }
    for (sample, value) in changes {
      #expect(text.contains(sample), "the sample has no \(sample)")
      text = text.replacingOccurrences(of: sample, with: value)
    }
    return text
  }

  private static func nginxChanges(_ place: Place) -> [(String, String)] {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "  \($0)_temp_path \(place.folder.path($0).path);"
    }
    return [
      ("/run/nginx.pid", place.folder.path("nginx.pid").path),
      ("/var/log/nginx/error.log", "stderr"),
      ("/var/cache/nginx/firebreak", place.folder.path("cache").path),
      ("/etc/ssl/keys.example.org.pem", place.certificate.path),
      ("/etc/ssl/private/keys.example.org.key", place.key.path),
      ("127.0.0.1:8081", "127.0.0.1:\(place.keyServerPort)"),
      ("listen 443", "listen 127.0.0.1:\(place.port)"), ("keys.example.org", "localhost"),
      ("  access_log off;", "  access_log off;\n" + temporary.joined(separator: "\n")),
      // On a busy machine both ends may take longer than operators would wait.
      ("_timeout 10s;", "_timeout \(Patience.seconds)s;"),
      ("_timeout 2s;", "_timeout \(Patience.seconds)s;"),
      ("_timeout 30s;", "_timeout \(Patience.seconds)s;"),
    ]
  }

  private static func caddyChanges(_ place: Place) -> [(String, String)] {
    [
      ("\n{\n", "\n{\n\tadmin off\n\tauto_https off\n"),
      (
        "\nkeys.example.org {",
        "\n\(place.address) {\n\tbind 127.0.0.1\n\ttls \(place.certificate.path) \(place.key.path)"
      ), ("127.0.0.1:8081 10.0.0.12:8081", "127.0.0.1:\(place.keyServerPort)"),
    ]
  }

  private static func command(_ kind: Kind, _ file: URL) -> [String] {
    switch kind {
    case .nginx:
      [
        "/usr/sbin/nginx", "-e", "stderr", "-g", "daemon off; user root;", "-c", file.path,
      ]
    case .caddy: ["/usr/bin/caddy", "run", "--adapter", "caddyfile", "--config", file.path]
    }
  }

  func messages() throws -> String { try String(contentsOf: log, encoding: .utf8) }

  /// Runs curl with the certificate of the proxy.
  func curl(_ options: String, _ path: String) async throws -> (status: Int32, output: String) {
    let run = try await Shell.run(
      "curl -sS --max-time 60 --cacert '\(certificate.path)' \(options) '\(address)\(path)'")
    return (run.status, run.output)
  }

  /// The status line and the headers of a response, in lower case.
  func headers(_ options: String, _ path: String) async throws -> String {
    try await curl("-D - -o /dev/null \(options)", path).output.lowercased()
  }

  /// The options of curl for an upload without a token.
  static let failingUpload = """
    -H 'content-type: application/json' -d '{"data":{"temporaryExposureKeys":[],"regions":["PL"],\
    "platform":"ios","appPackageName":"a"}}'
    """

  /// The responses to five failed uploads of one client, which names another address each time.
  func responsesToFailedUploads() async throws -> [String] {
    var responses: [String] = []
    for number in 0..<5 {
      responses.append(
        try await curl(
          Self.failingUpload + " -H 'X-Forwarded-For: 192.0.2.\(number)'", "/uploadDiagnosisKeys"
        ).output)
    }
    return responses
  }
}
