// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The instructions to phones in an earlier folder.
struct EarlierInstructions {
  let document: DeviceConfiguration
  /// The signed document; nil if it is lost and the instructions were stored with the secrets.
  let data: Data?
  /// True if it is certain that the key server of the folder has continued after the backup.
  let hasContinued: Bool
}

/// The instructions to phones that a restored key server goes on with, those of the newest document.
///
/// If it is not certain that its folder has continued after the backup, it may lack a pause or withdrawn files, which
/// are added.
struct InstructionsToKeep {
  /// The document that the next one follows, with a version that is not lower than any that phones may have; nil for
  /// that of the backup.
  let document: DeviceConfiguration?
  /// The newest instructions that have certainly continued after the backup; nil for those of the backup.
  let signed: EarlierInstructions?
  /// Sentences for the operator.
  let sentences: [String]

  init(_ folders: [EarlierFolder], of files: DeviceConfigurationFiles) throws {
    let own = try files.newest()
    let newer = folders.compactMap { $0.instructions(of: files) }
      .filter { $0.document.version > own?.version ?? 0 }
    signed = newer.filter(\.hasContinued).newest
    let lost = folders.filter { $0.hasLostInstructions(of: files) }.map(Self.loss)
    guard let newest = newer.newest else {
      (document, sentences) = (own, lost)
      return
    }
    let certain = signed?.document ?? own ?? newest.document
    let others = newer.filter { !$0.hasContinued }.map(\.document)
    let (combined, uncertain) = Self.combined(
      newest.document, certain, others: others, at: files.clock.now,
      isCertain: newest.hasContinued)
    (document, sentences) = (combined, lost + uncertain)
  }

  private static func loss(of folder: EarlierFolder) -> String {
    "The device configuration in \(folder.path) cannot be used: pauses and withdrawals are as in the backup again."
      + " Compare them with `firebreak key-server device-configuration`, and repeat what was changed after it."
  }

  private static func combined(
    _ newest: DeviceConfiguration, _ certain: DeviceConfiguration, others: [DeviceConfiguration],
    at now: Date, isCertain: Bool
  ) -> (DeviceConfiguration, [String]) {
    var (document, sentences) = (newest, [String]())
    if !isCertain, let pause = certain.pause, !pause.ends(before: newest.pause) {
      document.pause = pause
      sentences.append(
        "Phones stay paused as in the backup, although their newest device configuration may not pause them: end the"
          + " pause with `firebreak key-server resume` if it has ended.")
    }
    let omitted = document.addWithdrawals(of: [newest, certain] + others, at: now)
    if omitted > 0 {
      sentences.append(
        "\(omitted) files are not withdrawn any more: a device configuration has space for"
          + " \(DeviceConfigurationLimit.withdrawnMax). End withdrawals with `firebreak key-server withdraw --undo`,"
          + " then restore again.")
    }
    return (document, sentences)
  }
}

extension [EarlierInstructions] {
  fileprivate var newest: EarlierInstructions? {
    self.max { $0.document.version < $1.document.version }
  }
}

extension DeviceConfiguration.Pause {
  /// True if this pause ends before `other`, or at the same time.
  fileprivate func ends(before other: Self?) -> Bool {
    guard let other else { return false }
    return until ?? .max <= other.until ?? .max
  }
}

extension DeviceConfiguration {
  /// Withdraws the files of `documents`, those of the first ones first.
  ///
  /// - Returns: The number of files for which there is no space.
  fileprivate mutating func addWithdrawals(of documents: [Self], at now: Date) -> Int {
    var known: Set<KeyFileHash> = []
    let all = documents.flatMap { $0.withdrawals(at: now) }.filter {
      known.insert($0.file).inserted
    }
    let kept = all.prefix(DeviceConfigurationLimit.withdrawnMax)
    withdrawn = kept.map(\.file)
    withdrawnSince = kept.isEmpty ? nil : kept.map(\.since)
    return all.count - kept.count
  }

  /// The withdrawn files that phones may still need, with the times of their withdrawals.
  private func withdrawals(at now: Date) -> [(file: KeyFileHash, since: Int64)] {
    let since = withdrawnSince ?? []
    return withdrawn.enumerated().map { index, file in
      (file: file, since: index < since.count ? since[index] : issued)
    }.filter { now.unixSecond - $0.since < DeviceConfigurationLimit.withdrawnSeconds }
  }
}
