// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import QuietHTTP
import TestSupport
import Testing
import World

@testable import ObjectStore

/// A bucket of OpenStack Swift, whose check of signatures and lists are not of this project.
@Suite("Proof: a bucket of OpenStack Swift", .enabled(if: Proof.isRunning), .needs(.process))
struct OpenStackStoreTests {
  private let store: OpenStackStore

  init() async throws { store = try await OpenStackStore() }

  private func bucket(
    id: String = OpenStackStore.accessKeyID, secret: String = OpenStackStore.secretAccessKey,
    region: String = "us-east-1", clock: any WallClock = SystemClock()
  ) throws -> S3Bucket {
    S3Bucket(
      try S3Location(store.address("files", region: region)),
      credentials: S3Credentials(accessKeyID: id, secretAccessKey: secret),
      client: .withoutRedirects, clock: clock, timeoutSeconds: Int64(Patience.seconds))
  }

  private func put(
    _ text: String, as name: String, if condition: S3Bucket.Condition = .always,
    in bucket: S3Bucket
  ) async throws(ObjectStoreError) {
    try await bucket.put(
      Data(text.utf8), as: name, type: "application/zip", cacheControl: "public, immutable",
      if: condition)
  }

  @Test("Signatures are valid for objects with their names, lists in pages and removals")
  func objects() async throws {
    let bucket = try bucket()
    let names = (0...1_000).map { "PL/\($0)-\($0 + 1)-00001.zip" }
    for name in names { try await put(name, as: name, in: bucket) }
    let sizes = try await bucket.sizes()
    #expect(sizes.count == names.count)
    #expect(names.allSatisfy { sizes[$0] == $0.utf8.count })
    #expect(try await store.object("files/\(names[1])") == Data(names[1].utf8))
    for _ in 0..<2 { try await bucket.remove(names[0]) }
    #expect(try await bucket.get(names[0], bytesMax: 100) == nil)
    #expect(try await bucket.sizes().count == names.count - 1)
  }

  @Test("The store implements no conditions: what they protect is written without them")
  func conditions() async throws {
    let bucket = try bucket()
    try await put("first", as: "index.txt", if: .isNew, in: bucket)
    let tag = try #require(try await bucket.get("index.txt", bytesMax: 100)?.tag)
    try await put("second", as: "index.txt", if: .replaces(tag), in: bucket)
    // A store with conditions refuses this: the lease and the names of files keep exporters apart.
    try await put("third", as: "index.txt", if: .replaces(tag), in: bucket)
    try await put("fourth", as: "index.txt", if: .isNew, in: bucket)
    #expect(try await store.object("files/index.txt") == Data("fourth".utf8))
  }

  @Test(
    "A wrong secret, a wrong name, a wrong region and a wrong clock are refused, each by its cause")
  func refused() async throws {
    let late = ManualClock(Date().addingTimeInterval(3_600))
    for (bucket, status, cause) in [
      (try bucket(secret: "wrong"), 403, "credentials"),
      (try bucket(id: "test:nobody"), 403, "credentials"),
      (try bucket(clock: late), 403, "clock"),
      (try bucket(region: "eu-west-1"), 400, "region"),
    ] {
      let error = await #expect(throws: ObjectStoreError.refused("a.zip", status)) {
        try await put("content", as: "a.zip", in: bucket)
      }
      #expect(error?.description.contains(cause) == true, "\(error.debugDescription)")
    }
    #expect(try await store.object("files/a.zip") == nil)
  }
}
