// SPDX-License-Identifier: Apache-2.0
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
      try await server.untilIdle()
      try await body(server, try #require(try await server.listed().first))
    }
  }

  @Test("The index must be revalidated by caches, and an unchanged one is 304")
  func index() async throws {
    try await withOneFile { server, name in
      let answer = try await server.get(KeyServerRoute.index)
      #expect(answer.body == Data(name.text.utf8))
      #expect(answer.headers["content-type"]?.hasPrefix("text/plain") == true)
      #expect(answer.headers["cache-control"] == "public, max-age=0, s-maxage=30, must-revalidate")
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

  @Test("A range of a key file is 206 with its place, and a range after the end is 416")
  func ranges() async throws {
    try await withOneFile { server, name in
      let path = KeyServerRoute.keyFile(name)
      let whole = try await server.get(path)
      #expect(whole.headers["accept-ranges"] == "bytes")
      let count = whole.body.count
      let tag = try #require(whole.headers["etag"])
      let part = try await server.get(path, headers: [("Range", "bytes=100-199")])
      #expect((part.status, part.body) == (206, whole.body[100..<200]))
      #expect(part.headers["content-range"] == "bytes 100-199/\(count)")
      #expect(part.headers["etag"] == tag)
      let rest = try await server.get(path, headers: [("Range", "bytes=100-"), ("If-Range", tag)])
      #expect((rest.status, rest.body) == (206, whole.body[100...]))
      let other = try await server.get(
        path, headers: [("Range", "bytes=1-"), ("If-Range", "\"x\"")])
      #expect((other.status, other.body) == (200, whole.body))
      let late = try await server.get(path, headers: [("Range", "bytes=\(count)-")])
      #expect((late.status, late.headers["content-range"]) == (416, "bytes */\(count)"))
    }
  }

  @Test(
    "If-Modified-Since gives 304 from the date of the file on, unless If-None-Match says otherwise")
  func modifiedSince() async throws {
    try await withOneFile { server, name in
      let path = KeyServerRoute.keyFile(name)
      for (date, status) in [
        ("Sun, 13 Sep 2020 15:59:59 GMT", 200), ("Sun, 13 Sep 2020 16:00:00 GMT", 304),
        ("Sun, 13 Sep 2020 16:00:01 GMT", 304), ("yesterday", 200),
      ] {
        let answer = try await server.get(path, headers: [("If-Modified-Since", date)])
        #expect(answer.status == status, "\(date)")
      }
      let answer = try await server.get(
        path,
        headers: [
          ("If-Modified-Since", "Sun, 13 Sep 2020 16:00:01 GMT"), ("If-None-Match", "\"x\""),
        ])
      #expect(answer.status == 200)
    }
  }

  @Test("If-Match and If-Unmodified-Since of another version give 412, of this one the document")
  func preconditions() async throws {
    try await withOneFile { server, name in
      for path in [
        KeyServerRoute.keyFile(name), KeyServerRoute.index, KeyServerRoute.remoteConfiguration,
      ] {
        let tag = try #require(try await server.get(path).headers["etag"])
        for (header, status) in [
          (tag, 200), ("*", 200), ("\"x\", \(tag)", 200), ("\"x\"", 412), ("W/\(tag)", 412),
        ] {
          let answer = try await server.get(path, headers: [("If-Match", header)])
          #expect(answer.status == status, "\(path) \(header)")
          #expect(status == 200 || answer.body.isEmpty)
        }
      }
      for (date, status) in [
        ("Sun, 13 Sep 2020 15:59:59 GMT", 412), ("Sun, 13 Sep 2020 16:00:00 GMT", 200),
        ("yesterday", 200),
      ] {
        let path = KeyServerRoute.keyFile(name)
        let answer = try await server.get(path, headers: [("If-Unmodified-Since", date)])
        #expect(answer.status == status, "\(date)")
      }
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

  @Test("An index that cannot be read is 503 and not cached, and never looks empty")
  func unreadableIndex() async throws {
    try await withOneFile { server, name in
      let index = server.configuration.exportFolder.appendingPathComponent("index.txt")
      try await server.replaceByFolder(index)
      for path in [KeyServerRoute.index, KeyServerRoute.keyFile(name)] {
        let answer = try await server.get(path)
        #expect(answer.status == 503)
        #expect(answer.headers["cache-control"]?.contains("public") != true)
        #expect(answer.headers["retry-after"] != nil)
      }
    }
  }

  @Test("A listed file that is missing is 503, and the next export writes it again")
  func missingFile() async throws {
    try await withOneFile { server, name in
      let before = try await server.get(KeyServerRoute.keyFile(name)).body
      let file = server.configuration.exportFolder.appendingPathComponent(name.text)
      var status: UInt = 0
      // The server's own export may write the file again.
      try await Patience.until {
        try? FileManager.default.removeItem(at: file)
        status = try await server.get(KeyServerRoute.keyFile(name)).status
        return status == 503
      }
      #expect(status == 503)
      try await server.server.exportDue()
      let again = try #require(try await server.editions(of: name).first)
      let after = try await server.get(KeyServerRoute.keyFile(again))
      #expect((after.status, before.isEmpty) == (200, false))
      #expect(again != name)
    }
  }

  @Test("A removed export folder is 503, and the next export creates it again with all files")
  func removedFolder() async throws {
    try await withOneFile { server, name in
      var status: UInt = 0
      try await Patience.until {
        try? FileManager.default.removeItem(at: server.configuration.exportFolder)
        status = try await server.get(KeyServerRoute.index).status
        return status == 503
      }
      #expect(status == 503)
      try await server.server.exportDue()
      let again = try #require(try await server.editions(of: name).first)
      #expect(try await server.listed() == [again])
      #expect(try await server.get(KeyServerRoute.keyFile(again)).status == 200)
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
