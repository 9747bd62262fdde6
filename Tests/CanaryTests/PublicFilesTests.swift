// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureApp
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import Canary

@Suite("The key files of real phones, as the canary checks them")
struct PublicFilesTests {
  private static let end: Int64 = 1_800_014_400
  private static let period: Int64 = 14_400

  private let folder: TemporaryFolder
  private let root = RootPrivateKey()
  private let signer: KeyFileSigner
  private let keyServer: URL

  init() throws {
    folder = try TemporaryFolder()
    signer = try Self.newSigner()
    keyServer = try #require(URL(string: "https://keys.example"))
  }

  /// The files of a key server, without one.
  private struct StoredNetwork: Network {
    let files: [String: Data]

    var connection: NetworkConnection { get async { .wifi } }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      guard let body = files[request.url.path] else { return NetworkResponse(status: 404) }
      return NetworkResponse(status: 200, body: body)
    }

    func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
      guard let body = files[request.url.path] else { return NetworkResponse(status: 404) }
      try body.write(to: file)
      return NetworkResponse(status: 200)
    }
  }

  private static func newSigner() throws -> KeyFileSigner {
    try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260", keyVersion: "v1")
  }

  /// The name and the content of a file whose period ends at `end`.
  private func keyFile(
    end: Int64 = end, by signer: KeyFileSigner
  ) throws -> (name: KeyFileName, content: Data) {
    let name = try #require(KeyFileName(start: end - Self.period, end: end))
    let day = try #require(IntervalNumber(Date(unixSecond: Self.end - 3 * 86_400)))
    let key = try #require(
      TemporaryExposureKey(
        bytes: [UInt8](repeating: 7, count: 16), rollingStart: day.startOfDay))
    let file = folder.path("written.zip")
    try KeyFileWriter.write(
      to: file, start: UInt64(end - Self.period), end: UInt64(end), region: "PL",
      keys: [try #require(DiagnosisKey(key: key))], signers: [signer])
    return (name, try Data(contentsOf: file))
  }

  /// The fault of a server with an index of `name` and `content` at its path, `age` seconds after the end of its
  /// period.
  private func fault(
    _ name: KeyFileName, _ content: Data?, age: Int64 = 60, within limit: TimeInterval? = 172_800
  ) async throws -> String? {
    let now = Date(unixSecond: Self.end + age)
    let document = DeviceConfiguration.first(
      keys: [
        DeviceConfiguration.Key(
          keyID: "260", keyVersion: "v1", publicKey: signer.publicKeyPEM)
      ], issued: Date(unixSecond: Self.end - 86_400))
    var files = [
      KeyServerRoute.index: Data(name.text.utf8),
      KeyServerRoute.deviceConfiguration: try UnverifiedDeviceConfiguration.signed(
        document, by: root
      ).encoded(),
    ]
    files[KeyServerRoute.keyFile(name)] = content
    return try await PublicFiles(
      network: StoredNetwork(files: files), keyServer: keyServer, rootKey: root.rootKey,
      clock: SimulatedClock(now: now), ageSecondsMax: limit
    ).fault(folder: folder.url)
  }

  @Test("A signed file of the last period has no fault")
  func intact() async throws {
    let file = try keyFile(by: signer)
    #expect(try await fault(file.name, file.content) == nil)
  }

  @Test("A file that only begins like an archive, is cut, or is changed is a fault")
  func damaged() async throws {
    let file = try keyFile(by: signer)
    var changed = file.content
    // In the compressed export, after the local header and the name.
    changed[48] ^= 1
    let contents = [Data("PK".utf8), Data("PK<html>".utf8), file.content.dropLast(10), changed]
    for content in contents {
      let fault = try await fault(file.name, Data(content))
      #expect(fault?.contains("is not accepted by phones") == true, "\(fault ?? "no fault")")
    }
    let missing = try await fault(file.name, nil)
    #expect(missing?.contains("has status 404") == true)
  }

  @Test("A file with the signature of a key that phones do not know is a fault")
  func foreign() async throws {
    let file = try keyFile(by: try Self.newSigner())
    let fault = try await fault(file.name, file.content)
    #expect(fault?.contains("is not accepted by phones") == true, "\(fault ?? "no fault")")
  }

  @Test("The file of another period under the name of the newest one is a fault")
  func renamed() async throws {
    let earlier = try keyFile(end: Self.end - Self.period, by: signer)
    let newest = try keyFile(by: signer)
    let fault = try await fault(newest.name, earlier.content)
    #expect(fault?.contains("of another period") == true, "\(fault ?? "no fault")")
  }

  @Test(
    "An index whose newest file ended longer ago than the limit, or in the far future, is a fault")
  func old() async throws {
    let file = try keyFile(by: signer)
    #expect(try await fault(file.name, file.content, age: 172_800) == nil)
    let late = try await fault(file.name, file.content, age: 172_801)
    #expect(late?.contains("ended 48 hours ago") == true, "\(late ?? "no fault")")
    #expect(try await fault(file.name, file.content, age: 864_000, within: nil) == nil)
    let early = try await fault(file.name, file.content, age: -86_401)
    #expect(early?.contains("is from the future") == true, "\(early ?? "no fault")")
  }
}
