import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import KeyServerAPI
import Simulation

// What the phones make of the file, and what is left behind.
extension StoryScenes {
  func backgroundChecks() async throws {
    await pass(until: StoryClock.day(2, 8))
    try await teller.step(
      "background-check", "The phones wake up, download the file and compare it at home.",
      on: [.near, .far, .diagnosed],
      passages: [(.keyServer, .near), (.keyServer, .far), (.keyServer, .diagnosed)]
    ) { facts in
      for (phone, expected) in [
        (cast.near, RiskLevel.high), (cast.far, .none), (cast.diagnosed, .none),
      ] {
        let outcome = try await check(phone)
        try StoryFailure.unless(
          outcome == .checked(expected), "\(phone.name): the check ended \(outcome)")
        facts.append(
          "\(phone.name): \(await phone.app.checkTotals.todayKeysCount) keys checked, risk \(expected)."
        )
      }
    }
  }

  func notices() async throws {
    try await teller.step(
      "notice", "Near reads a notice. Far and diagnosed read none.", on: [.near]
    ) { facts in
      let told = cast.near.notices.exposureNotices
      guard let notice = told.first, told.count == 1, notice.riskLevel == .high else {
        throw StoryFailure("near was told \(told.count) times")
      }
      for other in [cast.far, cast.diagnosed] {
        try StoryFailure.unless(other.notices.exposureNotices.isEmpty, "\(other.name) was told")
      }
      facts.append("\u{201C}\(notice.title). \(notice.body)\u{201D}")
      if let exposure = await cast.near.app.exposures.first {
        facts.append(
          """
          What near's app knows: \(Int(exposure.durationSeconds / 60)) minutes on day 1, score \
          \(exposure.riskScore) of 4096.
          """)
      }
    }
  }

  func cleanedUp(after file: KeyFileName) async throws {
    try await teller.step(
      "clean-up", "The analysed files are gone, and every phone remembers where to go on.",
      on: [.near, .far, .diagnosed]
    ) { facts in
      for phone in cast.phones {
        let left = try keyFiles(on: phone)
        try StoryFailure.unless(left.isEmpty, "\(phone.name) still keeps \(left)")
        let cursor = await phone.app.cursor
        try StoryFailure.unless(
          cursor == file.endTimestamp, "\(phone.name)'s cursor is at \(cursor ?? -1)")
      }
      facts.append("No key file is left; each cursor moved to \(file.endTimestamp).")
    }
  }

  func nothingReadable(file: KeyFileName, code: String) async throws {
    try await teller.step(
      "sealed", "Somebody takes the phones apart and finds nothing readable.",
      on: [.near, .far, .diagnosed]
    ) { facts in
      let keys = try await allKeys(of: cast.phones)
      let identifiers = town.air.identifiersSent.map(\.bytes)
      try StoryFailure.unless(keys.count == 6, "three phones have \(keys.count) keys for two days")
      let search = PlainSearch(for: keys + identifiers + [Array(code.utf8)])
      for phone in cast.phones {
        let found = try search.findings(below: phone.folder)
        try StoryFailure.unless(found.leaks.isEmpty, "\(phone.name): \(found.leaks)")
        try StoryFailure.unless(found.files > 0, "\(phone.name) keeps nothing at all")
        facts.append("\(phone.name): \(found.files) files, \(found.bytes) bytes, all sealed.")
      }
      facts.append(
        "Looked for \(keys.count) keys, \(identifiers.count) identifiers and the PIN, as bytes, hex and base64."
      )
    }
    try await serversKnowHalf(code: code)
  }

  /// Neither server holds what the other knows.
  private func serversKnowHalf(code: String) async throws {
    try await teller.step(
      "two-halves", "Neither server can join a PIN to a key.",
      on: [.verificationServer, .keyServer]
    ) { facts in
      let keys = try await sharedKeys(of: cast.phones)
      let databases = try FileManager.default.contentsOfDirectory(
        at: cast.authority.folder, includingPropertiesForKeys: nil)
      for database in databases where database.lastPathComponent.contains("sqlite") {
        let isKeyServer = database.lastPathComponent.hasPrefix("keys")
        let secrets = isKeyServer ? [Array(code.utf8)] : keys
        let leaks = try PlainSearch(for: secrets).isPlain(in: database)
        try StoryFailure.unless(!leaks, "\(database.lastPathComponent) holds the other's secret")
      }
      facts.append("No key in the verification server's database, no PIN in the key server's.")
    }
  }

  private func keyFiles(on phone: SimulatedPhone) throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: phone.folder.path)
    return names.filter { $0.hasSuffix(".zip") || $0.hasSuffix(".bin") || $0.hasSuffix(".sig") }
  }
}
