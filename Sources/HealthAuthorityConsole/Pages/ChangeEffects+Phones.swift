// SPDX-License-Identifier: Apache-2.0
import KeyServerAPI
import World

/// The effects of pauses and withdrawals.
extension ChangeEffects {
  func describePhones(
    _ change: ConsoleChange, _ reading: AuthorityReading, _ texts: Texts,
    _ effect: inout ChangeEffect
  ) async throws {
    let instructions = try await reading.instructions.value
    let stored = instructions.pause
    let isInForce = stored.map { $0.until.map { $0 > clock.now.unixSecond } ?? true } ?? false
    let pause = isInForce ? stored : nil
    switch change {
    case .pause(let hours):
      effect.sentences = [try describePause(hours, present: pause, texts)]
      effect.facts.append("\(String(describing: stored))")
    case .resume:
      guard isInForce else { throw AuthorityFailure.refused(texts[.changeNotPaused]) }
      effect.sentences = [texts[.effectResume]]
      effect.facts.append("\(String(describing: stored))")
    default:
      try describeFiles(
        change, try await files(of: change, reading), Set(instructions.withdrawn), texts, &effect)
    }
  }

  /// The files that a withdrawal or its end concerns now: the file and its copies.
  private func files(
    of change: ConsoleChange, _ reading: AuthorityReading
  ) async throws(AuthorityFailure) -> [KeyFileCopy] {
    guard let file = change.file else { return [] }
    let copies = try await reading.copies(of: file)
    guard case .restoreFile = change else { return copies }
    let withdrawn = Set(try await reading.instructions.value.withdrawn)
    let withdrawnCopies = copies.filter { withdrawn.contains($0.hash) }
    guard withdrawnCopies.isEmpty, withdrawn.contains(file) else { return withdrawnCopies }
    // The file has expired, and only its withdrawal is left.
    return [KeyFileCopy(root: "", region: "", name: "", keyCount: 0, hash: file)]
  }

  private func describePause(
    _ hours: Int?, present: DeviceConfiguration.Pause?, _ texts: Texts
  ) throws -> String {
    if let hours, !ConsoleLimit.pauseHours.contains(hours) {
      throw AuthorityFailure.refused(texts[.phonesBadHours])
    }
    let until = hours.map { clock.now.unixSecond + Int64($0) * 3_600 }
    if let present, present.until.map({ $0 >= until ?? .max }) ?? true {
      // The other pause would become shorter, which is a resumption.
      throw AuthorityFailure.refused(
        present.until.map { texts[.changePausedUntil, texts.time($0)] }
          ?? texts[.changePausedOpen])
    }
    return until.map { texts[.effectPause, texts.time($0)] } ?? texts[.effectPauseOpen]
  }

  private func describeFiles(
    _ change: ConsoleChange, _ files: [KeyFileCopy], _ withdrawn: Set<KeyFileHash>,
    _ texts: Texts, _ effect: inout ChangeEffect
  ) throws {
    effect.files = files.map(\.hash)
    let lines = files.map { text($0, texts) }
    guard case .withdrawFile = change else {
      guard !files.isEmpty else { throw AuthorityFailure.refused(texts[.changeNotWithdrawn]) }
      effect.sentences = [texts[.effectRestore, "\(files.count)"]] + lines
      return
    }
    guard !files.isEmpty else { throw AuthorityFailure.refused(texts[.changeUnknownFile]) }
    guard files.contains(where: { !withdrawn.contains($0.hash) }) else {
      throw AuthorityFailure.refused(texts[.changeWithdrawn])
    }
    let keys = files.reduce(0) { $0 + $1.keyCount }
    effect.sentences = [texts[.effectWithdraw, "\(files.count)", "\(keys)"]] + lines
  }

  private func text(_ file: KeyFileCopy, _ texts: Texts) -> String {
    guard !file.name.isEmpty else { return texts[.effectExpiredFile, "\(file.hash)"] }
    let root = file.root.isEmpty ? texts[.exportsFirst] : file.root
    let export = texts[.exportsName, root, file.region]
    return texts[.effectFile, export, file.name, "\(file.keyCount)"]
  }
}
