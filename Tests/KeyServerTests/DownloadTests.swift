import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Key server: downloads")
struct DownloadTests {
  private func withOneFile(_ body: (RunningKeyServer, KeyFileName) async throws -> Void)
    async throws
  {
    try await RunningKeyServer.run { server in
      try await server.upload(server.request(server.keys()))
      server.clock.advance(by: 14_400)
      try await server.server.exportDue()
      try await body(server, try #require(try await server.listed().first))
    }
  }

  @Test("The index must be revalidated by caches, and an unchanged one is 304")
  func index() async throws {
    try await withOneFile { server, name in
      let answer = try await server.get(KeyServerRoute.index)
      #expect(answer.body == Data(name.text.utf8))
      #expect(answer.headers["content-type"]?.hasPrefix("text/plain") == true)
      #expect(answer.headers["cache-control"] == "public, no-cache")
      let tag = try #require(answer.headers["etag"])
      let again = try await server.get(KeyServerRoute.index, headers: [("If-None-Match", tag)])
      #expect((again.status, again.body.count) == (304, 0))
      let other = try await server.get(KeyServerRoute.index, headers: [("If-None-Match", "\"x\"")])
      #expect(other.status == 200)
    }
  }

  @Test("A key file may be cached for the retention time, and an unchanged one is 304")
  func keyFileHeaders() async throws {
    try await withOneFile { server, name in
      let answer = try await server.get(KeyServerRoute.keyFile(name))
      #expect(answer.headers["content-type"] == "application/zip")
      #expect(answer.headers["cache-control"] == "public, max-age=1209600, immutable")
      #expect(answer.headers["last-modified"] == "Sun, 13 Sep 2020 16:00:00 GMT")
      let tag = try #require(answer.headers["etag"])
      let again = try await server.get(
        KeyServerRoute.keyFile(name), headers: [("If-None-Match", "\"x\", \(tag)")])
      #expect((again.status, again.body.count) == (304, 0))
    }
  }

  @Test("A file that the index does not list is 404")
  func onlyListed() async throws {
    try await withOneFile { server, name in
      let export = server.configuration.exportFolder
      let unlisted = "1500000000-1500014400-00001.zip"
      try Data("secret".utf8).write(to: export.appendingPathComponent(unlisted))
      for path in [
        "/\(unlisted)", "/..%2fkeys.sqlite", "/%2e%2e/keys.sqlite", "/../keys.sqlite",
        "/keys.sqlite",
        "/export/\(name)", "/%2f\(name)", "/\(name)/", "/\(name)%00", "/.\(name)", "/",
        "/index.txt/x",
      ] {
        let answer = try await server.get(path)
        let isTheFile = path == "/\(name)/"
        #expect(answer.status == 404 || isTheFile, "\(path)")
        #expect(answer.body.range(of: Data("secret".utf8)) == nil)
      }
    }
  }

  @Test("The remote configuration is signed by the export key and cannot be rolled back")
  func remoteConfiguration() async throws {
    try await RunningKeyServer.run { server in
      let answer = try await server.get(KeyServerRoute.remoteConfiguration)
      #expect(answer.status == 200)
      #expect(answer.headers["content-type"]?.hasPrefix("application/json") == true)
      let key = try RemoteConfigurationKey(
        keyID: "260", keyVersion: "v1",
        publicKeyPEM: server.authority.exportKeys[0].publicKey.pemRepresentation)
      let wire = try UnverifiedRemoteConfiguration(decoding: answer.body)
      #expect(try wire.verified(by: [key], notBefore: 3).version == 3)
      #expect(throws: RemoteConfigurationError.rolledBack) {
        try wire.verified(by: [key], notBefore: 4)
      }
    }
  }

  @Test("An invalid setting is named in the error when the server starts")
  func badConfigurations() async throws {
    let changes: [(String, (inout KeyServerConfiguration) -> Void)] = [
      ("exportPeriodSeconds", { $0.exportPeriodSeconds = 14_401 }),
      ("maximumKeysPerFile", { $0.maximumKeysPerFile = 0 }),
      ("minimumKeys", { $0.minimumKeys = .max }),
      ("paddingRange", { $0.paddingRange = .max }),
      ("uploadAttempts", { $0.uploadAttempts = .max }),
      ("exportSigners", { $0.exportSigners = [] }),
      (
        "exportSigners",
        { $0.exportSigners = [ExportSigner(privateKeyPEM: "x", keyID: "1", keyVersion: "v1")] }
      ),
      ("tokenPublicKeysPEM", { $0.tokenPublicKeysPEM = ["t1": "x"] }),
      ("remoteConfiguration", { $0.remoteConfiguration.version = -1 }),
      ("region", { $0.regions = ["pl"] }),
      ("databaseFile", { $0.databaseFile = URL(fileURLWithPath: "/dev/null/keys.sqlite") }),
      ("exportFolder", { $0.exportFolder = URL(fileURLWithPath: "/dev/null/export") }),
    ]
    for (name, change) in changes {
      let error = await #expect(throws: KeyServerError.self) {
        try await RunningKeyServer.run(change) { _ in }
      }
      #expect(error?.description.contains(name) == true, "\(name)")
    }
  }
}
