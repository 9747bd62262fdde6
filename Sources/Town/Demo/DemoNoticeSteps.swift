// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import KeyServer
import KeyServerAPI
import PhoneProcess
import Simulation
import World

// The steps from the PIN to the notice.

// MARK: From the PIN to the published file

extension DemoSteps {
  func issueCode() async throws -> String {
    await run(until: DemoClock.day(2, 0, 30))
    return try await recorder.step(
      "code",
      "The laboratory reports a positive test of diagnosed. An official issues a PIN over HTTP.",
      on: [.verificationServer]
    ) { facts in
      let official = await participants.authority.official(network: participants.network)
      let code = try await official.issueCode()
      do {
        _ = try await official.issueCode(as: "not-the-officials-token")
        throw DemoFailure("a PIN was issued for an invalid API token")
      } catch let refusal as HealthOfficialError {
        facts.append(
          "Six characters, valid for 30 minutes. An invalid API token gets status \(refusal.status)."
        )
      }
      return code
    }
  }

  func upload(_ code: String) async throws {
    await run(until: DemoClock.day(2, 0, 45))
    try await recorder.step(
      "upload", "Diagnosed enters the PIN, agrees to share the keys, and uploads them.",
      on: [.diagnosed],
      messages: [(.diagnosed, .verificationServer), (.diagnosed, .keyServer)]
    ) { facts in
      let outcome = await participants.diagnosed.app.upload(
        pin: code, isInteroperabilityEnabled: false)
      try DemoFailure.unless(outcome.result == .success, "the upload ended \(outcome)")
      try DemoFailure.unless(
        participants.diagnosed.user.requests.last == .shareDiagnosisKeys, "the user was not asked")
      let validated = await participants.deviceCheck.validatedCount
      try DemoFailure.unless(validated == 1, "DeviceCheck validated \(validated) devices")
      facts.append("The system asked the user; then the token was bound to the keys.")
      facts.append("The key server validated the device before it accepted the keys.")
    }
  }

  func codeIsUsedUp(_ code: String) async throws {
    await run(until: DemoClock.day(2, 0, 55))
    try await recorder.step(
      "code-used-once", "An eavesdropper tries the same PIN on far's phone.",
      on: [.far], messages: [(.far, .verificationServer)]
    ) { facts in
      let outcome = await participants.far.app.upload(pin: code, isInteroperabilityEnabled: false)
      try DemoFailure.unless(outcome.result == .failure, "the second use ended \(outcome)")
      let validated = await participants.deviceCheck.validatedCount
      try DemoFailure.unless(validated == 1, "a second upload reached the key server")
      facts.append("Refused: a PIN is valid for the keys of one phone.")
    }
  }

  /// Checks that a key is held back until two hours after its end, while its beacons are still valid.
  func embargo() async throws {
    await run(until: DemoClock.day(2, 2))
    try await recorder.step(
      "embargo", "02:00: the key server closes another period and holds the key back.",
      on: [.keyServer]
    ) { facts in
      try await participants.authority.keyServer.exportDue()
      let files = try await listedFiles()
      try DemoFailure.unless(files.isEmpty, "\(files.map(\.text)) was published during the embargo")
      facts.append(
        "The key ended at midnight. For two more hours its beacons could be replayed.")
    }
  }

  /// Waits for the export and returns the published file.
  func export() async throws -> KeyFileName {
    await run(until: DemoClock.day(2, 3))
    return try await recorder.step(
      "export", "03:00: the embargo is over, and one signed file is published.",
      on: [.keyServer]
    ) { facts in
      try await participants.authority.keyServer.exportDue()
      let files = try await listedFiles()
      guard let file = files.first, files.count == 1 else {
        throw DemoFailure("\(files.count) files are listed")
      }
      facts.append("index.txt lists \(file.text).")
      facts.append(try await sizeOfVerified(file))
      return file
    }
  }

  private func listedFiles() async throws -> [KeyFileName] {
    let url = await participants.authority.keyServerURL.appendingPathComponent("index.txt")
    let response = try await participants.network.send(NetworkRequest(url))
    try DemoFailure.unless(response.status == 200, "index.txt has status \(response.status)")
    return KeyFileIndex.parse(String(decoding: response.body, as: UTF8.self)).names
  }

  private func sizeOfVerified(_ file: KeyFileName) async throws -> String {
    let copy = participants.authority.folder.appendingPathComponent("downloaded.zip")
    defer { FileManager.default.removeUnneeded(copy) }
    let response = try await participants.network.download(
      NetworkRequest(
        await participants.authority.keyServerURL.appendingPathComponent(file.text),
        responseBytesMax: 16 << 20), to: copy)
    try DemoFailure.unless(response.status == 200, "the file has status \(response.status)")
    let own = Set(try await sharedKeys(of: [participants.diagnosed]))
    var found = 0
    let verified = try UnverifiedKeyFile(at: copy).verified(
      by: try participants.authority.signing.verificationKeys(), batchSize: 4096
    ) { batch in
      found += batch.keys.filter { own.contains($0.key.secretBytes) }.count
    }
    let count = verified.facts.keyCount
    try DemoFailure.unless(found == 1, "\(found) of diagnosed's keys are in the file")
    try DemoFailure.unless(count >= 1000, "the file is not padded: it has \(count) keys")
    return "The signature is valid. Of the \(count) keys \(found) is real, the others are padding."
  }
}

// MARK: After the export: background checks, notices and the data that is left

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
          "\(phone.name): \(await phone.app.keysCount(ofDays: 1)) keys checked, risk \(expected)."
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
      if let words = Catalogues.installed.words(for: notice.cause, in: .english) {
        facts.append("\u{201C}\(words.title). \(words.body)\u{201D}")
      }
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
