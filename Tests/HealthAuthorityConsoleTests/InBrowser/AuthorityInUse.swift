// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Testing
import VerificationAPI

@testable import HealthAuthorityConsole

extension SimulatedAuthority {
  /// An authority with codes, files, keys and apps of two weeks.
  static func inUse() throws -> SimulatedAuthority {
    let authority = SimulatedAuthority()
    authority.state.days = days
    authority.state.recordedPhones = 92
    authority.state.attempts = attempts
    authority.state.issuers = [
      IssuerCodes(
        day: "2027-01-14", kind: .apiKey, name: "laboratory (77c0000000000000)", codes: 120),
      IssuerCodes(day: "2027-01-14", kind: .externalIssuer, name: "Clinic North", codes: 40),
      IssuerCodes(
        day: "2027-01-13", kind: .apiKey, name: "laboratory (77c0000000000000)", codes: 90),
    ]
    let files = try (0..<3).map { try file(number: $0) }
    authority.state.exports = [
      ExportFacts(
        root: "", region: "PL", periodSeconds: 14_400, keysMin: 500,
        nextFile: Date(timeIntervalSince1970: TimeInterval(fileEnd + 14_400)), files: files),
      ExportFacts(
        root: "interop", region: "EU", periodSeconds: 7_200, keysMin: 500,
        nextFile: Date(timeIntervalSince1970: TimeInterval(fileEnd + 7_200)), files: []),
    ]
    authority.state.withdrawn = [files[1].hash]
    authority.state.apiKeys = [
      APIKeyFacts(
        id: "5b1f", kind: "device", name: "app", createdAt: 0, revokedAt: nil, liveCodes: nil),
      APIKeyFacts(
        id: "77c0", kind: "admin", name: "laboratory", createdAt: 0, revokedAt: 1, liveCodes: nil),
    ]
    authority.state.authorities = [
      AuthorityFacts(issuer: "pl.example", audience: "keys.example", keyIDs: ["v1", "v2"])
    ]
    authority.state.apps = [
      AppFacts(id: "org.example.app", regions: ["PL", "EU"], authorities: ["pl.example"])
    ]
    return authority
  }

  /// The attempts of one day: those of all apps, and those of one key.
  static var attempts: [AppAttempts] {
    var all = AppAttempts(day: "2027-01-14", app: nil, codesInvalid: 40, tokensInvalid: 0)
    all.codesInvalidBySystem = .init(unknown: 0, ios: 10, android: 20)
    var app = AppAttempts(
      day: "2027-01-14", app: "app (5b1f000000000000)", codesInvalid: 30, tokensInvalid: 0)
    (app.codesClaimed, app.tokensClaimed) = (110, 100)
    return [all, app]
  }

  /// The day of `RunningConsole.start`.
  private static let today: Int64 = 1_799_971_200
  /// The end of the newest file, at 8 o'clock on that day.
  private static let fileEnd: Int64 = today + 28_800

  /// The last day has only begun.
  private static var days: [FunnelDay] {
    let issued = [212, 198, 240, 231, 187, 96, 74, 221, 205, 233, 219, 190, 88, 41]
    let redeemed = [171, 160, 198, 180, 150, 71, 58, 180, 166, 190, 177, 149, 66, 22]
    let uploads = [149, 141, 169, 158, 131, 60, 47, 155, 148, 166, 158, 131, 51, 4]
    return issued.indices.map { index in
      FunnelDay(
        day: today - Int64(issued.count - 1 - index) * 86_400, issued: issued[index],
        redeemed: redeemed[index], redeemSeconds: 240 + 60 * (index % 5), uploads: uploads[index],
        uploadTime: .under(minutes: 5),
        fileTime: .under(minutes: 180), published: 3_000 + 12 * uploads[index])
    }
  }

  private static func file(number: Int64) throws -> ExportFacts.File {
    let end = fileEnd - number * 14_400
    let hash = try #require(KeyFileHash(hex: String(repeating: "\(number)c5e91a7", count: 8)))
    return ExportFacts.File(
      name: "\(end - 14_400)-\(end)-00001.zip", bytes: 21_480, keyCount: 640,
      padding: number == 2 ? 300 : nil, isSigned: true, hash: hash, end: end)
  }
}
