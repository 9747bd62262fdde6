// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Virtual Bluetooth controllers on one simulated link, from two independent projects. `scripts/prepare-tests` installs
/// them.
public enum VirtualControllers: String, CaseIterable, Sendable {
  /// Google's Python implementation.
  case bumble
  /// The C++ and Rust implementation of the Android Open Source Project.
  case rootcanal

  /// Runs two controllers as long as `body` runs, and passes the TCP ports of 127.0.0.1 on which they speak HCI.
  ///
  /// A port may be used for several connections, one after another. Both ports of RootCanal are the same: each
  /// connection gets a new controller.
  ///
  /// - Throws: `VirtualControllersMissing` if they cannot run on this machine.
  public nonisolated(nonsending) func withRunning<Value: Sendable>(
    body: nonisolated(nonsending) (_ ports: [UInt16]) async throws -> Value
  ) async throws -> Value {
    try await withPowerSwitch { ports, _ in try await body(ports) }
  }

  /// The same, with a function that cuts the power of both controllers for a moment: they lose their connections and
  /// their state, and can be reached at the same ports again.
  public nonisolated(nonsending) func withPowerSwitch<Value: Sendable>(
    body:
      nonisolated(nonsending) (
        _ ports: [UInt16], _ cutPower: @escaping @Sendable () -> Void
      ) async throws -> Value
  ) async throws -> Value {
    try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/usr/bin/env"), ["python3", script.path], environment: environment
    ) { process in
      guard let line = try await process.firstLine(),
        let ports = try? JSONDecoder().decode(Ports.self, from: Data(line.utf8))
      else {
        throw VirtualControllersMissing(controllers: rawValue, reason: try process.errors)
      }
      return try await body(ports.ports) { process.send(SIGHUP) }
    }
  }

  private struct Ports: Decodable {
    let ports: [UInt16]
  }

  private var script: URL {
    SharedData.projectRoot
      .appendingPathComponent("Tests/VirtualControllers/\(rawValue)_controllers.py")
  }

  /// Python writes no bytecode beside the script or the packages.
  private var environment: [String: String] {
    let packages = SharedData.projectRoot.appendingPathComponent(".build/test-packages")
    return ProcessInfo.processInfo.environment.merging([
      "PYTHONPATH": packages.path, "PYTHONDONTWRITEBYTECODE": "1",
    ]) { $1 }
  }
}

/// The virtual controllers that a test needs could not be started.
public struct VirtualControllersMissing: Error, CustomStringConvertible {
  let controllers: String
  let reason: String

  public var description: String {
    """
    \(controllers) could not be started: run `make prepare-tests` and read .build/prepare-tests.log. \
    The last line of Python: \(reason.split(separator: "\n").last ?? "none")
    """
  }
}
