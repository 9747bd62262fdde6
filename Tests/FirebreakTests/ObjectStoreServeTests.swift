// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing

/// `firebreak serve --files s3://…` in a process of its own, with an object store on the loopback interface.
@Suite("Servers with an object store", .needs(.process)) struct ObjectStoreServeTests {
  private static let wrongSecret = "another secret that is wrong"
  private static let credentials = [
    "AWS_ACCESS_KEY_ID": S3TestServer.accessKeyID,
    "AWS_SECRET_ACCESS_KEY": S3TestServer.secretAccessKey,
  ]

  private let place: TemporaryFolder

  init() throws { place = try TemporaryFolder() }

  private func serve(
    _ address: String, _ environment: [String: String] = credentials
  ) async throws -> ServedAuthority {
    try await ServedAuthority(
      ServedAuthority.frequentExports, arguments: ["--files", address], environment: environment,
      in: place)
  }

  /// True if the bucket has each index and key file that the server serves, with the same bytes.
  private func isComplete(
    _ store: S3TestServer, of authority: ServedAuthority
  ) async throws -> Bool {
    let objects = await store.objects
    for root in ["", "PL"] {
      let path = KeyServerRoute.index(of: root)
      guard objects["a\(path)"] == (try await authority.servers.get(authority.keys, path).body)
      else { return false }
    }
    for line in try await authority.indexLines() {
      guard
        objects["a/\(line)"] == (try await authority.servers.get(authority.keys, "/\(line)").body)
      else { return false }
    }
    return true
  }

  /// Stops the servers, and expects that nothing that they printed has a secret.
  private func stop(_ authority: ServedAuthority) async throws {
    #expect(try await authority.servers.stop() == 0)
    let printed =
      try authority.servers.errors()
      + String(
        contentsOf: authority.servers.output, encoding: .utf8)
    for secret in [S3TestServer.secretAccessKey, Self.wrongSecret] {
      #expect(!printed.contains(secret))
    }
  }

  @Test("Key files and indexes are in the bucket, and those of a second start, too")
  func secondStart() async throws {
    try await S3TestServer.run { store async throws in
      var earlier: Set<String> = []
      for _ in 0..<2 {
        let authority = try await serve(store.address("a"))
        try await authority.publishKey()
        try await Patience.until { try await isComplete(store, of: authority) }
        #expect(try await authority.verifiedFileCount() > earlier.count)
        let objects = await store.objects
        #expect(earlier.isSubset(of: objects.keys))
        earlier = Set(try await authority.indexLines().map { "a/\($0)" })
        #expect(!earlier.isEmpty)
        try await stop(authority)
      }
      #expect(await store.refusedCount == 0)
    }
  }

  @Test(
    "With a bucket that is away uploads are accepted, and published after a start when it is back")
  func away() async throws {
    let nobody = try LocalListener(listens: false)
    let authority = try await serve(
      "s3://\(S3TestServer.bucket)/a?endpoint=http://127.0.0.1:\(nobody.port)")
    try await authority.untilFilesFail()
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    #expect(try await authority.indexLines().isEmpty)
    #expect(try await authority.servers.get(authority.keys, "/health").status == 200)
    try await stop(authority)
    withExtendedLifetime(nobody) {}
    #expect(try authority.servers.errors().contains("The object store does not respond"))
    try await S3TestServer.run { store async throws in
      let authority = try await serve(store.address("a"))
      try await Patience.until { try await !authority.indexLines().isEmpty }
      try await Patience.until { try await isComplete(store, of: authority) }
      #expect(try await authority.verifiedFileCount() > 0)
      try await stop(authority)
    }
  }

  @Test("Wrong credentials are named without the secret, and nothing is stored")
  func wrongCredentials() async throws {
    try await S3TestServer.run { store async throws in
      var environment = Self.credentials
      environment["AWS_SECRET_ACCESS_KEY"] = Self.wrongSecret
      let authority = try await serve(store.address("a"), environment)
      try await authority.untilFilesFail()
      #expect(try await authority.upload(token: try await authority.token()).status == 200)
      #expect(try await authority.indexLines().isEmpty)
      try await stop(authority)
      #expect(try authority.servers.errors().contains("check the credentials"))
      let (objects, refusedCount) = (await store.objects, await store.refusedCount)
      #expect(objects.isEmpty && refusedCount > 0)
    }
  }

  @Test("Missing credentials are refused at the start; the configuration is printed without any")
  func printed() async throws {
    let data = place.path("data").path
    let options = ["--data", data, "--files", "s3://\(S3TestServer.bucket)/a"]
    let none = ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]
    let refused = try await Run(["serve", "--port", "0"] + options, environment: none)
    #expect(refused.status == 2 && refused.errors.contains("AWS_SECRET_ACCESS_KEY"))
    let file = """
      {"accessKeyID": "\(S3TestServer.accessKeyID)", "secretAccessKey": "\(Self.wrongSecret)"}
      """
    try ServedAuthority.write(["keys/files-credentials.json": file], in: place)
    for format in [[], ["--json"]] {
      let run = try await Run(
        ["serve", "--print-configuration"] + format + options, environment: Self.credentials)
      #expect(run.status == 0 && run.output.contains("s3://\(S3TestServer.bucket)/a"))
      for secret in [S3TestServer.secretAccessKey, Self.wrongSecret, S3TestServer.accessKeyID] {
        #expect(!(run.output + run.errors).contains(secret))
      }
    }
  }
}
