// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Synchronization
import TestSupport
import Testing

@Suite("Key server: device configuration")
struct DeviceConfigurationRouteTests {
  private let root = RootPrivateKey()

  private func document(_ keys: [DeviceConfiguration.Key], version: Int = 1) throws -> Data {
    var document = DeviceConfiguration.first(keys: keys, issued: RunningKeyServer.start)
    document.version = version
    return try UnverifiedDeviceConfiguration.signed(document, by: root).encoded()
  }

  @Test("The document is served unchanged, must be revalidated, and gets 304 if it has not changed")
  func served() async throws {
    let authority = Authority()
    let keys = try authority.signers.map { try $0.publicKey() }
    let current = Mutex(try document(keys))
    let read: @Sendable () -> Data = { current.withLock { $0 } }
    try await RunningKeyServer.run(
      authority: authority, { $0.readDeviceConfiguration = read }
    ) { server in
      let path = KeyServerRoute.deviceConfiguration
      let answer = try await server.get(path)
      #expect(answer.status == 200 && answer.body == read())
      #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
      #expect(answer.headers["cache-control"] == "public, no-cache")
      let tag = try #require(answer.headers["etag"])
      let unchanged = try await server.get(path, headers: [("If-None-Match", tag)])
      #expect((unchanged.status, unchanged.body.count) == (304, 0))
      let next = try document(keys, version: 2)
      current.withLock { $0 = next }
      let changed = try await server.get(path, headers: [("If-None-Match", tag)])
      #expect(changed.status == 200 && changed.body == next)
      let configuration = try await server.get(KeyServerRoute.remoteConfiguration)
      let configurationTag = try #require(configuration.headers["etag"])
      let again = try await server.get(
        KeyServerRoute.remoteConfiguration, headers: [("If-None-Match", configurationTag)])
      #expect(again.status == 304)
    }
  }

  @Test("A server without a document answers 404")
  func none() async throws {
    try await RunningKeyServer.run { server in
      let answer = try await server.get(KeyServerRoute.deviceConfiguration)
      #expect(answer.status == 404)
    }
  }

  @Test("A signer that the document does not list signs nothing until it is listed")
  func unlisted() async throws {
    let authority = Authority()
    let signers = authority.signers
    try #require(signers.count == 2)
    let first = try signers[0].publicKey()
    let current = Mutex(try document([first]))
    try await RunningKeyServer.run(
      authority: authority,
      {
        $0.exportSigners = signers
        $0.readDeviceConfiguration = { current.withLock { $0 } }
      }
    ) { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      var second = try signers[1].publicKey()
      second.validFrom = Int64(server.clock.now.timeIntervalSince1970) + 20_000
      let listed = try document([first, second], version: 2)
      current.withLock { $0 = listed }
      for _ in 0..<2 {
        _ = try await server.uploadKeys()
        try await server.exportPeriod()
      }
      let lines = try await server.lines()
      try #require(lines.count == 3)
      var signatures: [[String]] = []
      for line in lines { signatures.append(try await server.published(line, by: 0).signatures) }
      #expect(signatures == [["v1"], ["v1"], ["v1", "v2"]])
    }
  }

  @Test(
    "A server whose keys are all missing in the document, or whose document is damaged, does not start"
  )
  func wrongDocument() async throws {
    let other = try Authority().signers[1].publicKey()
    for (data, text) in [
      (try document([other]), "lists no key"), (Data("x".utf8), "cannot be read"),
    ] {
      let error = await #expect(throws: KeyServerError.self) {
        try await RunningKeyServer.run({
          $0.exportSigners = Array($0.exportSigners.prefix(1))
          $0.readDeviceConfiguration = { data }
        }) { _ in }
      }
      #expect(error?.description.contains(text) == true, "\(String(describing: error))")
    }
  }
}
