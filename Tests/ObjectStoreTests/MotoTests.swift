// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import QuietHTTP
import TestSupport
import Testing
import World

@testable import ObjectStore

/// A bucket of moto's server, whose lists, tags and conditions are not of this project.
@Suite("Proof: a bucket of moto's server", .enabled(if: Proof.isRunning), .needs(.process))
struct MotoTests {
  private let server: MotoServer
  private let bucket: S3Bucket

  init() async throws {
    server = try await MotoServer()
    bucket = S3Bucket(
      try S3Location(server.address("files")),
      credentials: S3Credentials(
        accessKeyID: MotoServer.accessKeyID, secretAccessKey: MotoServer.secretAccessKey),
      client: .withoutRedirects, clock: SystemClock(), timeoutSeconds: Int64(Patience.seconds))
  }

  private func put(
    _ text: String, as name: String, if condition: S3Bucket.Condition = .always
  ) async throws(ObjectStoreError) {
    try await bucket.put(
      Data(text.utf8), as: name, type: "application/zip", cacheControl: "public, immutable",
      if: condition)
  }

  @Test("Conditions hold: a name is taken once, and an object with another tag is not replaced")
  func conditions() async throws {
    try await put("first", as: "a/1.zip", if: .isNew)
    await #expect(throws: ObjectStoreError.changed("a/1.zip")) {
      try await put("second", as: "a/1.zip", if: .isNew)
    }
    let tag = try #require(try await bucket.get("a/1.zip", bytesMax: 100)?.tag)
    try await put("second", as: "a/1.zip", if: .replaces(tag))
    await #expect(throws: ObjectStoreError.changed("a/1.zip")) {
      try await put("third", as: "a/1.zip", if: .replaces(tag))
    }
    #expect(try await server.object("files/a/1.zip") == Data("second".utf8))
    await #expect(throws: ObjectStoreError.changed("a/2.zip")) {
      try await put("third", as: "a/2.zip", if: .replaces(tag))
    }
  }

  @Test("A list of more objects than one response has names each once")
  func pages() async throws {
    let names = (0...1_000).map { "PL/\($0)-\($0 + 1)-00001.zip" }
    for name in names { try await put(name, as: name) }
    let sizes = try await bucket.sizes()
    #expect(sizes.count == names.count)
    #expect(names.allSatisfy { sizes[$0] == $0.utf8.count })
    for name in names.prefix(2) { try await bucket.remove(name) }
    try await bucket.remove(names[0])
    #expect(try await bucket.get(names[0], bytesMax: 100) == nil)
    #expect(try await bucket.sizes().count == names.count - 2)
  }
}
