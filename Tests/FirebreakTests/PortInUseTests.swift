// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import Terminal
import TestSupport
import Testing

@Suite("Ports that cannot be used", .needs(.process))
struct PortInUseTests {
  /// Every command that listens, with a new folder.
  private static let commands = [
    ["serve", "--data", "new", "--port", "PORT"],
    ["serve", "--only", "keys", "--data", "new", "--port", "PORT"],
    ["serve", "--only", "console", "--data", "new", "--host", "0.0.0.0", "--port", "PORT"],
    ["phone", "run", "--web", "PORT"],
    [
      "phone", "--create-key", "key", "--config", "phone.json", "--data", "new", "run", "--web",
      "PORT",
    ],
    ["up", "--data", "new", "--port", "PORT"], ["up", "--class", "5", "--port", "PORT"],
  ]

  /// A port on which a socket of this object listens, as long as it lives.
  private final class BusyPort {
    let number: Int
    private let descriptor: Int32

    init() throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let descriptor = descriptor
      let isListening = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0
            && getsockname(descriptor, $0, &size) == 0
        }
      }
      number = Int(UInt16(bigEndian: address.sin_port))
      try #require(isListening && number > 0)
    }

    deinit { close(descriptor) }
  }

  @Test(
    "A port in use ends every command that listens with 3 and the port, and leaves no folder",
    arguments: commands)
  func inUse(command: [String]) async throws {
    let (folder, busy) = (try TemporaryFolder(), try BusyPort())
    let words = command.map { $0 == "PORT" ? "\(busy.number)" : $0 }
    for _ in 1...2 {
      let run = try await Run(words, workingFolder: folder.url)
      #expect(run.status == 3 && run.output.isEmpty, "\(run.errors)")
      #expect(run.errors.contains("Port \(busy.number) is in use: stop the program"))
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
  }

  @Test(
    "A port below 1024 ends every command with 2 without the rights of root, and leaves no folder",
    arguments: commands)
  func reserved(command: [String]) async throws {
    let folder = try TemporaryFolder()
    let words = command.map { $0 == "PORT" ? "80" : $0 }
    let run = try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/setpriv"),
      ["--bounding-set", "-net_bind_service", "--inh-caps", "-net_bind_service", "/usr/bin/env"]
        + ["-C", folder.url.path, try Run.product().path] + words)
    #expect(run.status == 2 && run.output.isEmpty, "\(run.errors)")
    #expect(run.errors.contains("Port 80 is reserved for root"), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test(
    "Options with a common port, and an address without its port, are refused and leave no folder",
    arguments: [
      (
        ["--port", "18080", "--tls-port", "18081"],
        "(18080 to 18082) and --tls-port (18081 to 18083)"
      ),
      (["--port", "18080", "--tls-port", "18078"], "overlap"),
      (["--tls-port", "8082"], "--port (8080 to 8082)"),
      (["--port", "18080", "--metrics-port", "18082"], "--metrics-port (18082)"),
      (["--port", "0", "--tls-port", "18080", "--metrics-port", "18081"], "--tls-port (18080"),
      (["--only", "keys", "--port", "18080", "--tls-port", "18080"], "--port (18080) and"),
      (["--port", "0", "--metrics-host", "127.0.0.1"], "--metrics-host has no effect"),
    ])
  func overlapping(options: [String], fault: String) async throws {
    let folder = try TemporaryFolder()
    let tls = ["--tls-certificate", "none.pem", "--tls-key", "none.key"]
    let run = try await Run(
      ["serve", "--data", "new"] + options + (options.contains("--tls-port") ? tls : []),
      workingFolder: folder.url)
    #expect(run.status == 2 && run.errors.contains(fault), "\(run.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test(
    "Options with neighboring or free ports are not refused for them",
    arguments: [
      ["--port", "18080", "--tls-port", "18083", "--metrics-port", "18086"],
      ["--port", "0", "--tls-port", "0", "--metrics-port", "0"],
      ["--only", "keys", "--port", "18080", "--tls-port", "18081", "--metrics-port", "18082"],
    ])
  func apart(options: [String]) async throws {
    let folder = try TemporaryFolder()
    let tls = ["--tls-certificate", "none.pem", "--tls-key", "none.key"]
    let run = try await Run(
      ["serve", "--data", "new"] + tls + options, workingFolder: folder.url)
    // The next thing that is missing.
    #expect(run.status == 2 && run.errors.contains("none.pem"), "\(run.errors)")
  }

  @Test("Each cause has its own sentence and status")
  func causes() throws {
    let address = ListeningAddress(host: "127.0.0.1", port: 80, option: "--web")
    #expect(address.failure(EADDRINUSE).status == .machineFailed)
    #expect(address.failure(EADDRINUSE).message.contains("with --web"))
    #expect(address.failure(EACCES).status == .badInput)
    #expect(address.failure(EADDRNOTAVAIL).message.contains("127.0.0.1 is not an address"))
    #expect(address.failure(EMFILE).message.contains("too many open files"))
    try ListeningAddress(host: "localhost", port: 0).requireAvailable()
  }
}
