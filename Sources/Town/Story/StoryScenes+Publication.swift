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
    await pass(until: StoryClock.day(2, 9))
    return try await teller.step(
      "code", "Diagnosed has a positive test. The official issues a PIN over HTTP.",
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
    await pass(until: StoryClock.day(2, 9, 15))
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
    await pass(until: StoryClock.day(2, 9, 25))
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

  /// Waits for the export and returns the one file that it made.
  func export() async throws -> KeyFileName {
    await pass(until: StoryClock.day(2, 11, 59))
    try await cast.authority.keyServer.exportDue()
    let early = try await listedFiles()
    await pass(until: StoryClock.day(2, 12))
    return try await teller.step(
      "export", "Noon: the key server closes its period and publishes one signed file.",
      on: [.keyServer]
    ) { facts in
      try StoryFailure.unless(early.isEmpty, "keys were published before the period was over")
      try await cast.authority.keyServer.exportDue()
      let files = try await listedFiles()
      guard let file = files.first, files.count == 1 else {
        throw StoryFailure("\(files.count) files are listed")
      }
      facts.append("A minute before noon nothing was listed; now index.txt lists \(file.text).")
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
        answerBytesMax: 16 << 20), to: copy)
    try StoryFailure.unless(answer.status == 200, "the file was answered with \(answer.status)")
    let uploaded = Set(try await ownKeys(of: cast.diagnosed))
    var found = 0
    let verified = try UnverifiedKeyFile(at: copy).verified(
      by: try cast.authority.regionConfiguration().keys, batchSize: 4096
    ) { batch in
      found += batch.keys.filter { uploaded.contains($0.key.secretBytes) }.count
    }
    let count = verified.facts.keyCount
    try StoryFailure.unless(found == uploaded.count, "\(found) of \(uploaded.count) keys are in")
    try StoryFailure.unless(count >= 1000, "the file is not padded: it has \(count) keys")
    return "Its signature verifies. Of its \(count) keys \(found) is real, the others are padding."
  }
}
