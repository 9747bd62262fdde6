// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The object store of moto in a process of its own, with one bucket. It is not of this project, implements conditions,
/// and checks no signatures. `make prove` installs it.
public final class MotoServer: Sendable {
  public static let accessKeyID = "AKIATEST"
  public static let secretAccessKey = "not a real secret"
  private static let bucket = "key-files"

  private let port: Int
  private let process = Mutex<BackgroundProcess?>(nil)

  /// Starts a store with an empty bucket.
  public init() async throws {
    port = try UnusedPort.find()
    try await start()
  }

  /// Starts the store after `stop()`, empty and with the same address.
  public func start() async throws {
    let packages = SharedData.projectRoot.appendingPathComponent(".build/proof-packages")
    let process = try await BackgroundProcess(
      URL(fileURLWithPath: "/usr/bin/env"),
      ["python3", "-m", "moto.server", "-H", "127.0.0.1", "-p", "\(port)"],
      environment: ProcessInfo.processInfo.environment.merging(["PYTHONPATH": packages.path]) {
        $1
      })
    self.process.withLock { $0 = process }
    try await Patience.until {
      guard process.process.status == nil else {
        throw Failure(
          description: "moto, which make prove installs: \(try process.process.errors)")
      }
      return try await LoopbackClient.sendOnce("GET", "\(origin)/moto-api/").status == 200
    }
    let created = try await LoopbackClient.sendOnce("PUT", "\(origin)/\(Self.bucket)")
    guard created.status == 200 else {
      throw Failure(description: "moto creates no bucket: \(created.status)")
    }
  }

  /// Ends the store, which forgets all objects.
  public func stop() async throws {
    guard let process = process.withLock({ $0?.process }) else { return }
    process.kill()
    _ = try await process.wait()
  }

  private var origin: String { "http://127.0.0.1:\(port)" }

  /// The address of the bucket for objects that begin with `prefix`.
  public func address(_ prefix: String) -> String {
    "s3://\(Self.bucket)/\(prefix)?region=us-east-1&endpoint=\(origin)"
  }

  /// The variables of a program with the credentials.
  public var environment: [String: String] {
    ["AWS_ACCESS_KEY_ID": Self.accessKeyID, "AWS_SECRET_ACCESS_KEY": Self.secretAccessKey]
  }

  /// Returns the content of an object; nil if there is none, or if the store does not run.
  public func object(_ name: String) async throws -> Data? {
    let scope = "\(Self.accessKeyID)/20200101/us-east-1/s3/aws4_request"
    let response = try await LoopbackClient.sendOnce(
      "GET", "\(origin)/\(Self.bucket)/\(name)",
      headers: [
        ("authorization", "AWS4-HMAC-SHA256 Credential=\(scope), SignedHeaders=host, Signature=00")
      ])
    return response.status == 200 ? response.body : nil
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
