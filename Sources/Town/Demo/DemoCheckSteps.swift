import ExposureApp
import ExposureKeys
import Foundation
import KeyServerAPI
import Simulation

// The steps after the export: background checks, notices and the data that is left.
extension DemoSteps {
  func backgroundChecks() async throws {
    await run(until: DemoClock.day(2, 8))
    try await recorder.step(
      "background-check", "The phones wake up, download the file and match it on the device.",
      on: [.near, .far, .diagnosed],
      messages: [(.keyServer, .near), (.keyServer, .far), (.keyServer, .diagnosed)]
    ) { facts in
      for (phone, expected) in [
        (participants.near, RiskLevel.high), (participants.far, .none),
        (participants.diagnosed, .none),
      ] {
        let outcome = try await check(phone)
        try DemoFailure.unless(
          outcome == .checked(expected), "\(phone.name): the check ended \(outcome)")
        facts.append(
          "\(phone.name): \(await phone.app.checkTotals.todayKeysCount) keys checked, risk \(expected)."
        )
      }
    }
  }

  func notices() async throws {
    try await recorder.step(
      "notice", "Near shows a notice. Far and diagnosed show none.", on: [.near]
    ) { facts in
      let shown = participants.near.notices.exposureNotices
      guard let notice = shown.first, shown.count == 1, notice.riskLevel == .high else {
        throw DemoFailure("near has \(shown.count) notices instead of one")
      }
      for other in [participants.far, participants.diagnosed] {
        try DemoFailure.unless(other.notices.exposureNotices.isEmpty, "\(other.name) has a notice")
      }
      facts.append("\u{201C}\(notice.title). \(notice.body)\u{201D}")
      if let exposure = await participants.near.app.exposures.first {
        facts.append(
          """
          Near's app stores: \(Int(exposure.durationSeconds / 60)) minutes on day 1, score \
          \(exposure.riskScore) of 4096.
          """)
      }
    }
  }

  func cleanedUp(after file: KeyFileName) async throws {
    try await recorder.step(
      "clean-up", "The analysed files are removed, and every phone's cursor has moved.",
      on: [.near, .far, .diagnosed]
    ) { facts in
      for phone in participants.phones {
        let left = try keyFiles(on: phone)
        try DemoFailure.unless(left.isEmpty, "\(phone.name) still has \(left)")
        let cursor = await phone.app.cursor
        try DemoFailure.unless(
          cursor == file.endTimestamp, "\(phone.name)'s cursor is at \(cursor ?? -1)")
      }
      facts.append("No key file is left; each cursor moved to \(file.endTimestamp).")
    }
  }

  /// Ends the current keys early and returns all keys of the phones.
  func checkEncryption(code: String) async throws -> [[UInt8]] {
    try await recorder.step(
      "sealed", "A search of the phones' files finds nothing in plain text.",
      on: [.near, .far, .diagnosed]
    ) { facts in
      let keys = try await allKeys(of: participants.phones)
      let identifiers = world.air.identifiersSent.map(\.bytes)
      try DemoFailure.unless(keys.count == 6, "three phones have \(keys.count) keys for two days")
      let search = PlainTextSearch(for: keys + identifiers + [Array(code.utf8)])
      for phone in participants.phones {
        let found = try search.search(below: phone.folder)
        try DemoFailure.unless(found.leaks.isEmpty, "\(phone.name): \(found.leaks)")
        try DemoFailure.unless(found.files > 0, "\(phone.name) has no files")
        facts.append("\(phone.name): \(found.files) files, \(found.bytes) bytes, all encrypted.")
      }
      facts.append(
        "Searched for \(keys.count) keys, \(identifiers.count) identifiers and the PIN, as bytes, hex and base64."
      )
      return keys
    }
  }

  private func keyFiles(on phone: SimulatedPhone) throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: phone.folder.path)
    return names.filter { $0.hasSuffix(".zip") || $0.hasSuffix(".bin") || $0.hasSuffix(".sig") }
  }
}
