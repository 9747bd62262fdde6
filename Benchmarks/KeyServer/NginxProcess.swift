// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// An nginx in one process that serves an index from the disk, as a measure of what a web server needs.
enum NginxProcess {
  static let host = "127.0.0.1"
  private static let program = URL(fileURLWithPath: "/usr/sbin/nginx")

  /// Runs `body` with the port and the process.
  ///
  /// - Returns: Nil if nginx is not installed.
  static func withRunning<Value: Sendable>(
    _ body: (_ port: Int, _ processID: pid_t) async throws -> Value
  ) async throws -> Value? {
    guard FileManager.default.isExecutableFile(atPath: program.path) else { return nil }
    let folder = try TemporaryFolder()
    let port = try UnusedPort.find()
    try Data().write(to: folder.path("index.txt"))
    let configuration = folder.path("nginx.conf")
    try Data(text(port, folder).utf8).write(to: configuration)
    return try await ChildProcess.withRunning(
      program, ["-e", folder.path("error.log").path, "-c", configuration.path]
    ) { process in
      try await Patience.until {
        // Refused until it listens.
        guard let socket = try? LocalSocket.connected(to: port) else { return false }
        close(socket)
        return true
      }
      return try await body(port, process.processIdentifier)
    }
  }

  private static func text(_ port: Int, _ folder: TemporaryFolder) -> String {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(folder.path($0).path);"
    }.joined(separator: " ")
    return """
      daemon off; master_process off; pid \(folder.path("nginx.pid").path);
      events { worker_connections 1024; }
      http {
        access_log off; keepalive_requests 1000000000; \(temporary)
        server { listen \(host):\(port); root \(folder.url.path); }
      }
      """
  }
}
