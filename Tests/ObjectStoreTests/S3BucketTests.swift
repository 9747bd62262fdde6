// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import QuietHTTP
import TestSupport
import Testing
import World

@testable import ObjectStore

/// A bucket of a store that checks signatures.
@Suite("S3 buckets")
struct S3BucketTests {
  private static let content = Data("the keys of a day".utf8)

  private static func bucket(
    _ server: S3TestServer, secret: String = S3TestServer.secretAccessKey,
    timeoutSeconds: Int64 = Int64(Patience.seconds), clock: any WallClock = SystemClock()
  ) async throws -> S3Bucket {
    S3Bucket(
      try S3Location(await server.address("files")),
      credentials: S3Credentials(accessKeyID: S3TestServer.accessKeyID, secretAccessKey: secret),
      client: .withoutRedirects, clock: clock, timeoutSeconds: timeoutSeconds, retryPauses: [0, 0])
  }

  private static func put(
    _ bucket: S3Bucket, _ content: Data = content, as name: String = "a/1.zip",
    if condition: S3Bucket.Condition = .always
  ) async throws(ObjectStoreError) {
    try await bucket.put(
      content, as: name, type: "application/zip", cacheControl: "public, immutable", if: condition)
  }

  @Test("Objects are stored, read, listed in pages and removed under their prefix")
  func objects() async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server)
      await server.set("files2/other", Data([1]))
      await server.list(atMost: 2)
      for number in 1...5 { try await Self.put(bucket, as: "a/\(number).zip") }
      #expect(await server.objects["files/a/1.zip"] == Self.content)
      #expect(try await bucket.get("a/3.zip", bytesMax: 100)?.content == Self.content)
      #expect(try await bucket.get("a/6.zip", bytesMax: 100) == nil)
      let sizes = try await bucket.sizes()
      #expect(sizes.count == 5 && sizes["a/5.zip"] == Self.content.count)
      try await bucket.remove("a/1.zip")
      try await bucket.remove("a/1.zip")
      #expect(try await bucket.sizes().count == 4)
      #expect(await server.refusedCount == 0)
    }
  }

  @Test("A foreign object whose name begins with a combining mark is not one of ours")
  func combiningMark() async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server)
      await server.set("files/\u{301}1.zip", Data([1]))
      try await Self.put(bucket, as: "1.zip")
      #expect(try await bucket.sizes() == ["1.zip": Self.content.count, "\u{301}1.zip": 1])
    }
  }

  @Test("A store of another region refuses with that cause", arguments: [301, 400])
  func wrongRegion(status: Int) async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server)
      await server.fail(.status(status), "PUT")
      let error = await #expect(throws: ObjectStoreError.refused("a/1.zip", status)) {
        try await Self.put(bucket)
      }
      #expect(error?.description.contains("check the region and the endpoint") == true)
    }
  }

  @Test("A wrong secret is refused, and no description has a secret")
  func wrongSecret() async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server, secret: "wrong secret")
      let error = await #expect(throws: ObjectStoreError.refused("a/1.zip", 403)) {
        try await Self.put(bucket)
      }
      #expect(error.map { "\($0)".contains("credentials") } == true)
      #expect(await server.objects.isEmpty)
    }
  }

  @Test("A clock that is an hour wrong is refused")
  func wrongClock() async throws {
    try await S3TestServer.run { server in
      let clock = ManualClock(Date(timeIntervalSinceNow: -3_600))
      let bucket = try await Self.bucket(server, clock: clock)
      await #expect(throws: ObjectStoreError.refused("a/1.zip", 403)) {
        try await Self.put(bucket)
      }
    }
  }

  @Test(
    "A store that truncates an object or forgets it is noticed",
    arguments: [S3TestServer.Fault.truncates, .forgets])
  func damaged(fault: S3TestServer.Fault) async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server)
      await server.fail(fault, "PUT")
      await #expect(throws: ObjectStoreError.damaged("a/1.zip")) { try await Self.put(bucket) }
      await server.recover()
      try await Self.put(bucket)
      #expect(await server.objects["files/a/1.zip"] == Self.content)
    }
  }

  @Test("Errors that may pass are repeated twice, and others are not")
  func retries() async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server)
      await server.fail(.status(503), "PUT", times: 2)
      try await Self.put(bucket)
      await server.fail(.status(500), "PUT", times: 3)
      await #expect(throws: ObjectStoreError.refused("a/2.zip", 500)) {
        try await Self.put(bucket, as: "a/2.zip")
      }
      await server.recover()
      let before = await server.requests.count
      await server.fail(.status(403), "PUT")
      await #expect(throws: ObjectStoreError.refused("a/2.zip", 403)) {
        try await Self.put(bucket, as: "a/2.zip")
      }
      #expect(await server.requests.count == before + 1)
    }
  }

  @Test("A store that does not respond ends a request")
  func silent() async throws {
    try await S3TestServer.run { server in
      await server.fail(.silent, "GET")
      let bucket = try await Self.bucket(server, timeoutSeconds: 1)
      await #expect(throws: ObjectStoreError.unavailable) { try await bucket.sizes() }
    }
  }

  @Test("Conditions hold, and a store without them writes anyway", arguments: [true, false])
  func conditions(areImplemented: Bool) async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server)
      if !areImplemented { await server.implementNoConditions() }
      try await Self.put(bucket, if: .isNew)
      // A repeated request finds what it has stored itself.
      try await Self.put(bucket, if: .isNew)
      let tag = try #require(try await bucket.get("a/1.zip", bytesMax: 100)?.tag)
      let other = Data("other keys".utf8)
      if areImplemented {
        await #expect(throws: ObjectStoreError.changed("a/1.zip")) {
          try await Self.put(bucket, other, if: .isNew)
        }
        #expect(await server.objects["files/a/1.zip"] == Self.content)
      }
      try await Self.put(bucket, other, if: .replaces(tag))
      #expect(await server.objects["files/a/1.zip"] == other)
      guard areImplemented else { return }
      await #expect(throws: ObjectStoreError.changed("a/1.zip")) {
        try await Self.put(bucket, if: .replaces(tag))
      }
    }
  }

  @Test("An object that is larger than allowed is not read")
  func large() async throws {
    try await S3TestServer.run { server in
      let bucket = try await Self.bucket(server)
      await server.set("files/a/1.zip", Data(count: 101))
      await #expect(throws: ObjectStoreError.tooLarge("a/1.zip")) {
        try await bucket.get("a/1.zip", bytesMax: 100)
      }
    }
  }
}
