// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import KeyServerAPI
import Secrets
import Synchronization
import TextEncodings
import World

extension Phone {
  /// Performs an operation of the owner: a command, or an action on a page. It is the consent that some need.
  package func perform(_ request: PhoneRequest) async -> PhoneReply {
    let operation = request.operation
    if operation.isForDevelopers && developerRadio == nil {
      return PhoneReply(
        .badInput, "This is for developers: start the running phone with --developer as well.")
    }
    if let refusal = settings.start.refusal(of: request.start) { return refusal }
    if let replaced { return PhoneReply(.failed, replaced.description) }
    if let failure = await unreadableConsent(for: operation) { return failure }
    let reply = await consent.granting(operation) {
      do {
        return try await result(of: operation, pin: request.pin)
      } catch let failure as StorageFailure {
        return PhoneReply(.failed, failure.description)
      } catch let error as ENError {
        return PhoneReply(.failed, error.localizedDescription)
      } catch {
        return PhoneReply(
          .failed, "The phone could not read or store its data: check the disk, then try again.")
      }
    }
    await updateRecords()
    return reply
  }

  /// The reply to an operation that needs the owner's decisions while they cannot be read: the phone is neither on nor
  /// off then, and must not be reported as off.
  private func unreadableConsent(for operation: PhoneOperation) async -> PhoneReply? {
    switch operation {
    case .status, .check, .enable, .disable, .upload, .unfinishedUpload, .followingDays,
      .uploadPreview, .travel, .onboard, .exportMyData, .hear:
      break
    default: return nil
    }
    guard device.consentFailure != nil else { return nil }
    // It reads them again.
    await device.beat()
    guard let failure = device.consentFailure else { return nil }
    let file = folder.framework.appendingPathComponent("permission").path
    let reason =
      "The file \(file) cannot be read, so it is not known if exposure notifications are on. \(failure)"
    // The pages show the problem, and everything else that is known.
    guard case .status = operation else { return PhoneReply(.failed, reason) }
    return PhoneReply(.failed, reason, await state())
  }

  private func result(of operation: PhoneOperation, pin: ZeroingBytes) async throws -> PhoneReply {
    switch operation {
    case .status: return await state().reply
    case .check: return await check()
    case .enable: return await enable()
    case .disable: return try await disable()
    case .history: return await history().reply
    case .exposures: return await exposures().reply
    case .shownExposures:
      return await exposures(isHidden: preferences.values.hidesDetails).reply
    case .upload(let sharesAbroad, let diagnosis):
      return await upload(pin, sharesAbroad: sharesAbroad, diagnosis: diagnosis)
    case .unfinishedUpload(let action): return try await resolveUpload(action)
    case .followingDays(let decision): return try await decide(decision)
    case .uploadPreview(let diagnosis):
      return PhoneReply(.done, "", try await uploadPreview(diagnosis, pin: pin))
    case .travel(let region): return try await travelled(to: region)
    case .remove(let removal): return try await remove(removal)
    case .startOver: return try await startOver()
    case .removeRows(let rows): return try await remove(rows)
    case .onboard(let step): return try await onboard(step)
    case .choose(let choice): return try choose(choice)
    case .messages:
      let sent = await PhoneMessages(in: messages, received: [:])
      return PhoneReply(.done, "\(sent.messages.count) messages were sent.", sent)
    case .traffic:
      let received = try await device.storedDataCounts().sightings
      return PhoneReply(.done, "", await PhoneMessages(in: messages, received: received))
    case .exportMyData: return try await ownerData().reply
    case .hear(let scans): return await hear(scans)
    case .sent: return sentBeacons()
    case .develop(let action): return PhoneReply(.done, try await develop(action))
    }
  }
}

// MARK: Checking and uploading

extension Phone {
  private func check() async -> PhoneReply {
    let outcome = await app.check()
    let state = await app.currentState
    var report = CheckReport(
      ok: outcome.isSuccess, riskLevel: Self.riskLevel(of: state), paused: state.isPaused,
      configurationRefused: state.configurationRefusal?.description)
    switch outcome {
    case .checked(let level): return PhoneReply(.done, "Checked: \(level.words).", report)
    case .paused:
      return PhoneReply(
        .done, "The health authority has paused checks. Checks resume automatically.", report)
    case .failed(let failure):
      report.failure = failure.rawValue
      let texts = [failure.explanation, report.configurationRefused].compactMap(\.self)
      // The owner can end these failures, and a retry cannot.
      let isForOwner = failure == .notAuthorized || failure == .notEnabled
      return PhoneReply(isForOwner ? .refused : .failed, texts.joined(separator: " "), report)
    }
  }

  private func upload(
    _ pin: ZeroingBytes, sharesAbroad: Bool, diagnosis: Diagnosis
  ) async -> PhoneReply {
    guard diagnosis.isUsable(at: clock.now) else {
      return PhoneReply(
        .badInput,
        "The day of the test or of the first symptoms must be one of the last fourteen days.")
    }
    noteUpload(nil)
    return noted(
      await app.upload(
        pin: pin, isInteroperabilityEnabled: sharesAbroad, diagnosis: diagnosis))
  }

  private func resolveUpload(
    _ action: PhoneOperation.UnfinishedUpload
  ) async throws -> PhoneReply {
    switch action {
    case .continue:
      noteUpload(nil)
      guard let outcome = await app.continueUpload() else {
        return PhoneReply(.badInput, "There is no unfinished upload: enter a PIN.")
      }
      return noted(outcome)
    case .forget:
      if let failure = try await app.forgetUpload() { return noted(failure) }
      let report = UploadReport(ok: false, result: UploadResult.canceled.rawValue, reason: nil)
      return PhoneReply(.done, "The unfinished upload was removed.", report)
    case .seen:
      noteUpload(nil)
      return PhoneReply(.done, "")
    }
  }

  /// Keeps the result of an upload for a user interface that was closed meanwhile, and makes the reply.
  private func noted(_ outcome: UploadOutcome) -> PhoneReply {
    let report = UploadReport(outcome)
    // The other upload reports its own result.
    if outcome.reason != .alreadyRunning { noteUpload(report) }
    guard let reason = outcome.reason else {
      return PhoneReply(.done, "Your keys were shared. Thank you.", report)
    }
    return PhoneReply(reason.replyStatus, reason.description, report)
  }

  private func noteUpload(_ report: UploadReport?) { lastUpload.withLock { $0 = report } }
}

extension UploadFailure {
  var replyStatus: PhoneReply.Status {
    switch self {
    case .invalidPIN: .badInput
    case .alreadyRunning, .paused, .noInternet, .serverBusy, .stopped, .storage, .systemFailed:
      .failed
    default: .refused
    }
  }
}

// MARK: Turning on and off, travel, removal

extension Phone {
  private func enable() async -> PhoneReply {
    let outcome = await app.enable()
    let isOn = [.enabled, .bluetoothOff].contains(outcome)
    let report = EnableReport(enabled: isOn, outcome: outcome.rawValue)
    do {
      if isOn, await app.onboarding != .finished { try await app.finishOnboarding() }
    } catch {
      return PhoneReply(.failed, error.description, report)
    }
    let (status, text): (PhoneReply.Status, String) =
      switch outcome {
      case .enabled: (.done, "Exposure notifications are on.")
      case .bluetoothOff:
        (
          .done,
          "Exposure notifications are on. Beacons are sent and received as soon as there is Bluetooth."
        )
      case .refused, .unsupported:
        (.refused, "Exposure notifications are not allowed on this phone.")
      case .diskFull: (.failed, "The disk is full: free some space, then try again.")
      case .failed: (.failed, "Exposure notifications could not be turned on: try again.")
      }
    return PhoneReply(status, text, report)
  }

  private func disable() async throws -> PhoneReply {
    try await app.disable()
    return PhoneReply(
      .done, "Exposure notifications are off. Received identifiers stay on the phone.",
      EnableReport(enabled: false, outcome: "disabled"))
  }

  private func onboard(_ step: PhoneOperation.Onboarding) async throws -> PhoneReply {
    switch step {
    case .consent:
      if await app.enable().isOn { try preferences.update { $0.hasDeclined = false } }
    case .decline: try preferences.update { $0.hasDeclined = true }
    case .finish: try await app.finishOnboarding()
    }
    return PhoneReply(.done, "")
  }

  private func choose(_ choice: PhoneChoice) throws -> PhoneReply {
    try preferences.update {
      $0.language = choice.language ?? $0.language
      if choice.language != nil { $0.hasChosenLanguage = true }
      $0.hidesDetails = choice.hidesDetails ?? $0.hidesDetails
      $0.notifications = choice.notifications ?? $0.notifications
      $0.wantsStatistics = choice.statistics ?? $0.wantsStatistics
    }
    return PhoneReply(.done, "")
  }

  private func travelled(to region: String?) async throws -> PhoneReply {
    guard region.map(TravelLimit.isRegion) ?? true else {
      return PhoneReply(.badInput, "A region is a code such as PL or US-CA.")
    }
    if let region { try travel.record(region) }
    let home = settings.region.region
    let report = { [travel] traveled in
      TravelReport(traveled: traveled, region: home, incomplete: travel.damageFound != nil)
    }
    do {
      let hasLeft = try await device.hasTraveled()
      return report(hasLeft).reply(
        .done, "In the last fourteen days you have \(hasLeft ? "" : "not ")left \(home).")
    } catch let error as ENError where error.code == .travelStatusNotAvailable {
      return report(nil).reply(
        .done, "Nothing is recorded of your travels: report a region with travel --to.")
    } catch let error as ENError where error.code == .notEnabled {
      // Without notifications the framework tells nothing, but the stay is recorded for later.
      return region == nil
        ? report(nil).reply(
          .refused, "Exposure notifications are off: enable them to read your travels.")
        : report(nil).reply(
          .done, "Recorded. Enable exposure notifications to read your travels.")
    }
  }

  private func remove(_ removal: PhoneOperation.Removal) async throws -> PhoneReply {
    switch removal {
    case .exposures: try await app.removeExposures()
    case .history: try await app.removeHistory()
    case .notices:
      try await app.acknowledgeDamage()
      try await app.dismissNotices()
      try await device.acknowledgeStorageDamage()
      try await notices.removeAll()
    case .everything:
      // On this phone the owner of the app is also the owner of the system.
      // Without the consent, a removal that fails halfway leaves the phone off.
      try await device.forgetAuthorization()
      try await app.removeEverything()
      try await device.removeAllData()
      try await notices.removeAll()
      try travel.removeAll()
      try preferences.removeAll()
      try await statistics?.removeAll()
      try await messages.removeAll()
      developerRadio?.forgetSent()
      noteUpload(nil)
    }
    return PhoneReply(.done, "Removed.", ["removed": removal.rawValue])
  }

  private func remove(_ rows: PhoneOperation.Rows) async throws -> PhoneReply {
    let ids = { (texts: [String]) in Set(texts.compactMap(UUID.init)) }
    try await notices.removeFromHistory(ids: ids(rows.notices))
    try await app.removeChecks(ids: ids(rows.checks))
    try await app.removeExposures(ids: ids(rows.exposures))
    return PhoneReply(.done, "Removed.")
  }
}

extension Phone {
  /// Sets damaged data of the app aside. Only the owner can request it, because the key may be the wrong one.
  private func startOver() async throws -> PhoneReply {
    if await app.storage == .unreadable { await app.reopenStorage() }
    switch await app.storage {
    case .ready:
      return PhoneReply(.refused, "Nothing is damaged: there is no reason to start over.")
    case .unreadable:
      return PhoneReply(
        .failed, "The disk cannot be read, and nothing may be lost: check the disk, then try again."
      )
    case .damaged, .keyMissing:
      try await app.startOver(with: key)
      await app.start()
      return PhoneReply(
        .done,
        "The damaged data was set aside. The next check analyses the last fourteen days again.",
        ["startedOver": true])
    }
  }
}

extension TravelReport {
  fileprivate func reply(_ status: PhoneReply.Status, _ text: String) -> PhoneReply {
    let note = incomplete ? " Earlier stays were damaged and are not counted." : ""
    return PhoneReply(status, text + note, self)
  }
}

// MARK: For developers

extension Phone {
  private func hear(_ scans: [HeardScan]) async -> PhoneReply {
    var report = HeardReport()
    for scan in scans {
      guard let scan = scan.scan else {
        return PhoneReply(.badInput, "A beacon does not have 20 bytes.", report)
      }
      guard await developerRadio?.hear(scan) == true else {
        return PhoneReply(.refused, "The phone does not listen: enable it first.", report)
      }
      let measured = scan.sightings.count(where: \.hasSignalStrength)
      report.scans += 1
      report.beacons += measured
      report.beaconsWithoutStrength += scan.sightings.count - measured
    }
    return PhoneReply(.done, report.text, report)
  }

  private func sentBeacons() -> PhoneReply {
    let beacons = (developerRadio?.sent ?? []).map { sent in
      SentReport.Beacon(
        rpi: sent.beacon.identifier.bytes.hexadecimal, aem: sent.beacon.metadata.bytes.hexadecimal,
        unix_time: sent.time.unixSecond)
    }
    let lines = beacons.map { "\($0.rpi),\($0.aem),\($0.unix_time)" }
    return PhoneReply(
      .done, (["rpi,aem,unix_time"] + lines).joined(separator: "\n"), SentReport(sent: beacons))
  }
}

extension HeardScan {
  /// The scan for the radio; `nil` if a beacon does not have the right size.
  fileprivate var scan: Scan? {
    let time = Date(unixSecond: time)
    let sightings = beacons.compactMap { beacon -> Sighting? in
      let count = RollingProximityIdentifier.byteCount
      guard let identifier = RollingProximityIdentifier(bytes: beacon.bytes.prefix(count)),
        let metadata = AssociatedEncryptedMetadata(bytes: beacon.bytes.dropFirst(count))
      else { return nil }
      return Sighting(
        advertisement: Advertisement(identifier: identifier, metadata: metadata), time: time,
        signalStrength: beacon.signalStrength)
    }
    return sightings.count == beacons.count ? Scan(time: time, sightings: sightings) : nil
  }
}
