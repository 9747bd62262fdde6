// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// `firebreak serve --files` with OpenStack Swift as its object store, which checks signatures and has no conditions.
@Suite(
  "Proof: a served key server with OpenStack Swift", .enabled(if: Proof.isRunning), .needs(.process)
)
struct ServedOpenStackTests {
  private static let wrongSecret = "another secret that is wrong"

  private func serve(
    _ store: OpenStackStore, secret: String = OpenStackStore.secretAccessKey,
    region: String = "us-east-1", arguments: [String] = [], in place: TemporaryFolder? = nil
  ) async throws -> ServedAuthority {
    try await ServedAuthority(
      ServedAuthority.frequentExports,
      arguments: ["--files", store.address("files", region: region)] + arguments,
      environment: store.environment.merging(["AWS_SECRET_ACCESS_KEY": secret]) { $1 }, in: place)
  }

  private func expectStored(_ authority: ServedAuthority, _ store: OpenStackStore) async throws {
    try await authority.expectStored { try await store.object("files" + $0) }
  }

  /// The key files of the indexes of `authority` with their contents in the store.
  private func files(
    of authority: ServedAuthority, in store: OpenStackStore
  ) async throws -> [String: Data] {
    var files: [String: Data] = [:]
    for line in try await authority.indexLines() {
      let content: Data = try #require(try await store.object("files/\(line)"), "\(line)")
      files[line] = content
    }
    return files
  }

  @Test(
    "The store has what the server publishes; a crash of the store loses nothing, nor a second start",
    .timeLimit(.minutes(Patience.minutes)))
  func restart() async throws {
    let store = try await OpenStackStore()
    let authority = try await serve(store)
    try await authority.publishKey()
    try await expectStored(authority, store)
    let before = try await files(of: authority, in: store)
    try await store.stop()
    // Its keys wait in the database.
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    try await authority.untilFilesFail()
    #expect(try await Set(authority.indexLines()) == Set(before.keys))
    try await store.start()
    try await Patience.until { try await authority.indexLines().count >= before.count + 2 }
    try await expectStored(authority, store)
    #expect(try await authority.servers.stop() == 0)
    let again = try await serve(store, in: authority.folder)
    try await again.publishKey()
    try await expectStored(again, store)
    let after = try await files(of: again, in: store)
    #expect(before.allSatisfy { after[$0.key] == $0.value })
    #expect(try await again.verifiedFileCount() >= before.count + 4)
    #expect(try await again.servers.stop() == 0)
  }

  @Test(
    "A wrong secret and a wrong region are named as such, and with the right ones all is published",
    .timeLimit(.minutes(Patience.minutes)))
  func refused() async throws {
    let store = try await OpenStackStore()
    let place = try TemporaryFolder()
    for (secret, region, cause) in [
      (Self.wrongSecret, "us-east-1", "check the credentials"),
      (OpenStackStore.secretAccessKey, "eu-west-1", "check the region"),
    ] {
      let authority = try await serve(store, secret: secret, region: region, in: place)
      #expect(try await authority.upload(token: try await authority.token()).status == 200)
      try await authority.untilFilesFail()
      #expect(try await authority.indexLines().isEmpty)
      #expect(try await authority.servers.stop() == 0)
      let errors = try authority.servers.errors()
      #expect(errors.contains(cause) && !errors.contains(secret), "\(errors)")
      #expect(try await store.object("files/index.txt") == nil)
    }
    let authority = try await serve(store, in: place)
    try await Patience.until { try await authority.indexLines().count >= 2 }
    try await expectStored(authority, store)
    #expect(try await authority.verifiedFileCount() >= 2)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test(
    "Two servers with one database, the exporting one killed: no name gets other bytes, none is lost",
    .timeLimit(.minutes(Patience.minutes)))
  func twoExporters() async throws {
    let (store, cluster) = (try await OpenStackStore(), try await PrivatePostgreSQL())
    for server in ["verification", "keys", "console"] {
      try await cluster.createDatabase("firebreak_\(server)")
    }
    let arguments = ["--database", cluster.address() + " connect_timeout=60"]
    let first = try await serve(store, arguments: arguments)
    try await first.publishKey()
    // With the secrets of the first one, and a folder of key files of its own.
    let place = try TemporaryFolder()
    try FileManager.default.copyItem(at: first.folder.path("data"), to: place.path("data"))
    try FileManager.default.removeItem(at: place.path("data/exports"))
    let second = try await serve(store, arguments: arguments, in: place)
    var written = try await files(of: first, in: store)
    for round in 0..<4 {
      let uploading = round.isMultiple(of: 2) ? first : second
      let upload = try await uploading.upload(token: try await uploading.token())
      #expect(upload.status == 200)
      let count = written.count
      try await Patience.until { try await second.indexLines().count >= count + 2 }
      for (name, content) in try await files(of: second, in: store) {
        #expect(written.updateValue(content, forKey: name) ?? content == content, "\(name)")
      }
    }
    // It may be writing, and holds the lease for two minutes more.
    #expect(try await first.upload(token: try await first.token()).status == 200)
    first.servers.send(SIGKILL)
    try await Patience.until { try await second.indexLines().count >= written.count + 2 }
    try await expectStored(second, store)
    let last = try await files(of: second, in: store)
    #expect(written.allSatisfy { last[$0.key] == $0.value })
    #expect(try await second.verifiedFileCount() == last.count)
    #expect(try await second.servers.stop() == 0)
  }
}
