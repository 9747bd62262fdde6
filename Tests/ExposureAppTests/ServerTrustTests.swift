// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureApp

@Suite("Encrypted connections to servers", .needs(.process), .timeLimit(.minutes(Patience.minutes)))
struct ServerTrustTests {
  private let place: TemporaryFolder

  init() throws {
    place = try TemporaryFolder()
  }

  /// A server of Python with a certificate of openssl.
  private static let server = """
    import http.server, ssl, sys
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers()
            self.wfile.write(b"ok")
        def log_message(self, *args): pass
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = getattr(ssl.TLSVersion, sys.argv[3])
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  /// Creates a self-signed certificate for `subject` with an extension, and returns it and its key.
  private func certificate(
    subject: String, _ alternativeName: String?
  ) async throws -> (certificate: URL, key: URL) {
    let (certificate, key) = (place.path("certificate.pem"), place.path("key.pem"))
    let made = try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=\(subject)", "-keyout", key.path, "-out", certificate.path,
      ] + (alternativeName.map { ["-addext", "subjectAltName=\($0)"] } ?? []))
    #expect(made.status == 0, "\(made.errors)")
    return (certificate, key)
  }

  /// Creates a self-signed certificate for localhost that is valid in these years, and returns it and its key.
  private func certificate(
    validIn years: (Int, Int)
  ) async throws -> (certificate: URL, key: URL) {
    let (certificate, key) = try await certificate(subject: "localhost", "DNS:localhost")
    let settings = place.path("ca.cnf")
    let text = """
      [ca]
      default_ca = own
      [own]
      database = \(place.path("index").path)
      new_certs_dir = \(place.url.path)
      serial = \(place.path("serial").path)
      default_md = sha256
      policy = names
      x509_extensions = server
      [names]
      commonName = supplied
      [server]
      subjectAltName = DNS:localhost
      [req]
      distinguished_name = none
      [none]
      """
    for (name, content) in [("ca.cnf", text), ("index", ""), ("serial", "01")] {
      try Data(content.utf8).write(to: place.path(name))
    }
    let request = place.path("request.pem")
    for arguments in [
      [
        "req", "-new", "-config", settings.path, "-key", key.path, "-subj", "/CN=localhost", "-out",
        request.path,
      ],
      [
        "ca", "-batch", "-selfsign", "-config", settings.path, "-keyfile", key.path, "-in",
        request.path, "-notext", "-startdate", "\(years.0)0101000000Z", "-enddate",
        "\(years.1)0101000000Z",
        "-out", certificate.path,
      ],
    ] {
      let made = try await ChildProcess.run(URL(fileURLWithPath: "/usr/bin/openssl"), arguments)
      #expect(made.status == 0, "\(made.errors)")
    }
    return (certificate, key)
  }

  /// The status of a request to a server with this certificate, or the failure.
  private func result(
    subject: String = "localhost", _ alternativeName: String? = "DNS:localhost",
    version: String = "TLSv1_3", isTrusted: Bool = true
  ) async throws -> Result<Int, NetworkFailure> {
    try await result(
      of: try await certificate(subject: subject, alternativeName), version: version,
      isTrusted: isTrusted)
  }

  private func result(
    of made: (certificate: URL, key: URL), version: String = "TLSv1_3", isTrusted: Bool = true,
    clock: any WallClock = SystemClock()
  ) async throws -> Result<Int, NetworkFailure> {
    let script = place.path("server.py")
    try Data(Self.server.utf8).write(to: script)
    return try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/usr/bin/env"),
      ["python3", script.path, made.certificate.path, made.key.path, version]
    ) { process in
      try await Patience.until { try process.output.contains("\n") }
      let port = try process.output.trimmingCharacters(in: .whitespacesAndNewlines)
      let network = HTTPNetwork(
        clock: clock, ownMachineTimeoutSeconds: Double(Patience.seconds),
        authorities: isTrusted ? made.certificate : nil)
      let url = try #require(URL(string: "https://localhost:\(port)/"))
      let result: Result<Int, NetworkFailure>
      do {
        result = .success(try await network.send(NetworkRequest(url)).status)
      } catch let failure as NetworkFailure {
        result = .failure(failure)
      }
      await network.shutdown()
      return result
    }
  }

  @Test(
    "A certificate whose subjectAltName has the server's name is accepted",
    arguments: ["TLSv1_2", "TLSv1_3"])
  func accepted(version: String) async throws {
    #expect(try await result(version: version) == .success(200))
    #expect(try await result(subject: "another", version: version) == .success(200))
  }

  @Test(
    "A certificate without subjectAltName is rejected, although its common name is the server's")
  func commonName() async throws {
    #expect(try await result(nil) == .failure(.certificate))
  }

  @Test("A certificate of another name, or of an unknown authority, is rejected")
  func untrusted() async throws {
    #expect(try await result("DNS:example.org") == .failure(.certificate))
    #expect(try await result(isTrusted: false) == .failure(.certificate))
  }

  @Test(
    "A certificate that has expired or is not valid yet, by the clock, has its own failure",
    arguments: [(2_020, 2_021), (2_090, 2_091)])
  func outOfDate(years: (Int, Int)) async throws {
    let made = try await certificate(validIn: years)
    #expect(try await result(of: made) == .failure(.certificateOutOfDate))
    // A clock that is years off does not accept a certificate of the present either.
    let present = try await certificate(subject: "localhost", "DNS:localhost")
    for offset in [-10.0, 10] {
      let clock = ManualClock(SystemClock().now.addingTimeInterval(offset * 365 * 86_400))
      #expect(
        try await result(of: present, isTrusted: false, clock: clock)
          == .failure(.certificateOutOfDate))
    }
  }

  @Test("A server without TLS 1.2 is rejected")
  func oldVersion() async throws {
    #expect(try await result(version: "TLSv1_1") == .failure(.certificate))
  }
}
