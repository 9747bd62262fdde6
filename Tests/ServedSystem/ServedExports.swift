// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

/// The key files that a running key server serves, as a phone with the public root key reads them.
extension ServedAuthority {
  /// Settings with exports of a second, so that a test gets files.
  package static let frequentExports = [
    "keys/settings.json": #"{"exportPeriodSeconds":1,"minimumKeys":1,"paddingRange":0}"#
  ]

  /// The device configuration that the server serves, verified with the root key.
  package func servedDocument() async throws -> DeviceConfiguration {
    let answer = try await servers.get(keys, KeyServerRoute.deviceConfiguration)
    let pem = try String(contentsOf: folder.path("data/root-public-key.pem"), encoding: .utf8)
    return try UnverifiedDeviceConfiguration(decoding: answer.body)
      .verified(by: try RootKey(publicKeyPEM: pem), at: SystemClock().now)
  }

  /// The lines of every index: of the ProteGO Safe contract, and of the export in Google's layout.
  package func indexLines() async throws -> [String] {
    var lines: [String] = []
    for root in ["", "PL"] {
      let index = try await servers.get(keys, KeyServerRoute.index(of: root))
      // A server that is busy has no index now.
      guard index.status == 200 else { continue }
      lines += String(decoding: index.body, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    return lines
  }

  /// Downloads the files of every index, and expects that each verifies with the keys of the served device
  /// configuration and no others.
  ///
  /// - Returns: Their number.
  package func verifiedFileCount() async throws -> Int {
    let publicKeys = try await servedDocument().keys(validAt: SystemClock().now).map {
      try VerificationPublicKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey)
    }
    let lines = try await indexLines()
    for line in lines {
      let answer = try await servers.get(keys, "/\(line)")
      #expect(answer.status == 200, "\(line)")
      let file = folder.path("downloaded.zip")
      try answer.body.write(to: file)
      _ = try UnverifiedKeyFile(at: file).verified(
        by: publicKeys, batchSize: KeyFileLimit.batchSizes.upperBound
      ) { _ in }
    }
    return lines.count
  }

  /// Waits until an object store has the indexes that the server has, and expects the files that they name.
  ///
  /// - Parameter object: Returns the content of an object; nil if there is none.
  package func expectStored(
    by object: (_ path: String) async throws -> Data?
  ) async throws {
    for root in ["", "PL"] {
      let route = KeyServerRoute.index(of: root)
      try await Patience.until {
        let served = try await servers.get(keys, route)
        guard served.status == 200 else { return false }
        return try await object(route) == served.body
      }
    }
    for line in try await indexLines() {
      let file = try await servers.get(keys, "/\(line)").body
      #expect(try await object("/\(line)") == file, "\(line)")
    }
  }

  /// Waits until `/ready` names the files as a fault.
  package func untilFilesFail() async throws {
    try await Patience.until {
      let ready = try await servers.get(keys, "/ready")
      return ready.status == 503
        && String(decoding: ready.body, as: UTF8.self).contains("\"files\"")
    }
  }

  /// Uploads a key and waits until both exports have a file.
  package func publishKey() async throws {
    let count = try await indexLines().count
    let upload = try await upload(token: try await token())
    try #require(upload.status == 200)
    try await Patience.until { try await indexLines().count >= count + 2 }
  }
}
