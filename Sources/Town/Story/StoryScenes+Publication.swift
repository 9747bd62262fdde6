import DiagnosisKeyFile
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import KeyServer
import KeyServerAPI
import Simulation

// From the official's PIN to the signed file: the second walk.
extension StoryScenes {
  func officialIssuesCode() async throws -> String {
    await pass(until: StoryClock.day(2, 0, 30))
    return try await teller.step(
      "code",
      "The laboratory reports a positive test of diagnosed. The official issues a PIN over HTTP.",
      on: [.verificationServer]
    ) { facts in
      let official = await cast.authority.official(network: cast.network)
      let code = try await official.issueCode()
      do {
        _ = try await official.issueCode(as: "not-the-officials-token")
        throw StoryFailure("a stranger was issued a PIN")
      } catch let refusal as OfficialRefusal {
        facts.append(
          "Six characters, good for 30 minutes. A stranger who asks gets status \(refusal.status).")
      }
      return code
    }
  }

  func upload(_ code: String) async throws {
    await pass(until: StoryClock.day(2, 0, 45))
    try await teller.step(
      "upload", "Diagnosed enters the PIN, agrees to share the keys, and uploads them.",
      on: [.diagnosed],
      passages: [(.diagnosed, .verificationServer), (.diagnosed, .keyServer)]
    ) { facts in
      let outcome = await cast.diagnosed.app.upload(pin: code, isInteroperabilityEnabled: false)
      try StoryFailure.unless(outcome.result == .success, "the upload ended \(outcome)")
      try StoryFailure.unless(
        cast.diagnosed.person.asked.last == .shareDiagnosisKeys, "the person was not asked")
      let genuine = await cast.deviceCheck.genuineCount
      try StoryFailure.unless(genuine == 1, "DeviceCheck was asked about \(genuine) devices")
      facts.append("The person was asked by the system; the keys were then bound to the token.")
      facts.append("The key server had the device confirmed before it took the keys.")
    }
  }

  func codeIsUsedUp(_ code: String) async throws {
    await pass(until: StoryClock.day(2, 0, 55))
    try await teller.step(
      "code-used-once", "Somebody who overheard the PIN tries it on far's phone.",
      on: [.far], passages: [(.far, .verificationServer)]
    ) { facts in
      let outcome = await cast.far.app.upload(pin: code, isInteroperabilityEnabled: false)
      try StoryFailure.unless(outcome.result == .failure, "the second use ended \(outcome)")
      let genuine = await cast.deviceCheck.genuineCount
      try StoryFailure.unless(genuine == 1, "a second upload got as far as the key server")
      facts.append("Refused: one PIN is good for one phone's keys.")
    }
  }

  /// A key can be sent as a beacon, and be believed, until two hours after its end.
  func embargo() async throws {
    await pass(until: StoryClock.day(2, 2))
    try await teller.step(
      "embargo", "Two o'clock: the key server closes another period, and holds the key back.",
      on: [.keyServer]
    ) { facts in
      try await cast.authority.keyServer.exportDue()
      let files = try await listedFiles()
      try StoryFailure.unless(files.isEmpty, "\(files.map(\.text)) came out under the embargo")
      facts.append(
        "The key ended at midnight. Until two hours later somebody could still replay its beacons.")
    }
  }

  /// Waits for the export and returns the one file that it made.
  func export() async throws -> KeyFileName {
    await pass(until: StoryClock.day(2, 3))
    return try await teller.step(
      "export", "Three o'clock: the embargo is over, and one signed file is published.",
      on: [.keyServer]
    ) { facts in
      try await cast.authority.keyServer.exportDue()
      let files = try await listedFiles()
      guard let file = files.first, files.count == 1 else {
        throw StoryFailure("\(files.count) files are listed")
      }
      facts.append("index.txt lists \(file.text).")
      facts.append(try await sizeOfVerified(file))
      return file
    }
  }

  private func listedFiles() async throws -> [KeyFileName] {
    let url = await cast.authority.keyServerURL.appendingPathComponent("index.txt")
    let answer = try await cast.network.send(NetworkRequest(url))
    try StoryFailure.unless(answer.status == 200, "index.txt was answered with \(answer.status)")
    return KeyFileIndex.parse(String(decoding: answer.body, as: UTF8.self)).names
  }

  private func sizeOfVerified(_ file: KeyFileName) async throws -> String {
    let copy = cast.authority.folder.appendingPathComponent("downloaded.zip")
    defer { try? FileManager.default.removeItem(at: copy) }
    let answer = try await cast.network.download(
      NetworkRequest(
        await cast.authority.keyServerURL.appendingPathComponent(file.text),
        responseBytesMax: 16 << 20), to: copy)
    try StoryFailure.unless(answer.status == 200, "the file was answered with \(answer.status)")
    let own = Set(try await sharedKeys(of: [cast.diagnosed]))
    var found = 0
    let verified = try UnverifiedKeyFile(at: copy).verified(
      by: try cast.authority.regionConfiguration().keys, batchSize: 4096
    ) { batch in
      found += batch.keys.filter { own.contains($0.key.secretBytes) }.count
    }
    let count = verified.facts.keyCount
    try StoryFailure.unless(found == 1, "\(found) of diagnosed's keys are in the file")
    try StoryFailure.unless(count >= 1000, "the file is not padded: it has \(count) keys")
    return "Its signature verifies. Of its \(count) keys \(found) is real, the others are padding."
  }
}
