// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The object store of OpenStack Swift in a process of its own, with one bucket. It is not of this project, checks
/// signatures, and responds to conditions with 501. `make prove` installs it.
public final class OpenStackStore: Sendable {
  public static let accessKeyID = "test:tester"
  public static let secretAccessKey = "testing"
  private static let bucket = "key-files"

  private let port: Int
  private let folder: TemporaryFolder
  private let process = Mutex<BackgroundProcess?>(nil)

  /// Starts a store with an empty bucket.
  public init() async throws {
    port = try UnusedPort.find()
    folder = try TemporaryFolder()
    try await start()
  }

  /// Starts the store after `stop()`, with the objects that it had and the same address.
  public func start() async throws {
    let script = SharedData.projectRoot
      .appendingPathComponent("Tests/OpenStackStore/openstack_store.py")
    // Debian's Python, for which the package of the store is.
    let process = try await BackgroundProcess(
      URL(fileURLWithPath: "/usr/bin/python3"),
      [script.path, folder.url.path, "\(port)", Self.bucket],
      environment: ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) {
        $1
      })
    self.process.withLock { $0 = process }
    guard try await process.process.firstLine() == "ready" else {
      throw Failure(
        description: "OpenStack Swift, which make prove installs: \(try process.process.errors)")
    }
  }

  /// Ends the store as a crash does. It keeps its objects.
  public func stop() async throws {
    guard let process = process.withLock({ $0?.process }) else { return }
    process.kill()
    _ = try await process.wait()
  }

  private var origin: String { "http://127.0.0.1:\(port)" }

  /// The address of the bucket for objects that begin with `prefix`.
  public func address(_ prefix: String, region: String = "us-east-1") -> String {
    "s3://\(Self.bucket)/\(prefix)?region=\(region)&endpoint=\(origin)"
  }

  /// The variables of a program with the credentials.
  public var environment: [String: String] {
    ["AWS_ACCESS_KEY_ID": Self.accessKeyID, "AWS_SECRET_ACCESS_KEY": Self.secretAccessKey]
  }

  /// Returns the content of an object by Swift's own interface, without a signature; nil if there is none, or if the
  /// store does not run.
  public func object(_ name: String) async throws -> Data? {
    let response = try await LoopbackClient.sendOnce(
      "GET", "\(origin)/v1/AUTH_test/\(Self.bucket)/\(name)")
    return response.status == 200 ? response.body : nil
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
