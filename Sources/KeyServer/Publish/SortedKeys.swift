import ExposureKeys
import Foundation
import KeyServerAPI

/// The keys of a publish, sorted into those that are taken and those that are not.
///
/// Documentation/KeyServer.md 7.3: one bad key does not refuse the others here.
struct SortedKeys: Sendable {
  private(set) var taken: [PublishableKey] = []
  /// A sentence for each key that breaks a rule.
  private(set) var faults: [String] = []
  /// A sentence for each key that lies too far from the onset of symptoms: no fault of the phone's.
  private(set) var warnings: [String] = []

  /// What the keys are, and where and since when they count.
  struct Circumstances: Sendable {
    let finding: Finding
    let onset: SymptomOnset
    let regions: [String]
    let travels: Bool
    let now: Date
  }

  /// Sorts `keys`.
  ///
  /// - Throws: `.broken` where the upload as a whole breaks a rule, or no key is left for their faults.
  init(_ keys: [SentKey], _ circumstances: Circumstances) throws(PublishRefusal) {
    guard UploadLimit.keyCount.contains(keys.count) else {
      throw .broken(UploadBreach.keyCount.description)
    }
    let window = KeyWindow(at: circumstances.now)
    taken.reserveCapacity(keys.count)
    for (index, key) in keys.enumerated() {
      if let breach = window.breach(of: key) {
        faults.append("Key \(index): \(breach)")
      } else {
        take(key, at: index, circumstances)
      }
    }
    if let breach = UploadLimit.breachTogether(of: taken.map(\.key.key)) {
      throw .broken("\(breach)")
    }
    if faults.count == keys.count { throw .broken(faults.joined(separator: " ")) }
  }

  /// Takes one key that breaks no rule by itself, or warns.
  private mutating func take(
    _ sent: SentKey, at index: Int, _ circumstances: Circumstances
  ) {
    guard let key = sent.exposureKey, let sentRisk = UInt8(exactly: sent.risk ?? 0) else { return }
    let days = circumstances.onset.days(to: key)
    if let days, !KeyServerLimit.daysSinceOnset.contains(days) {
      warnings.append(
        "Key \(index) begins \(abs(days)) days from the onset of symptoms, more than"
          + " \(KeyServerLimit.daysSinceOnset.upperBound); it was not taken.")
      return
    }
    let risk = sentRisk == 0 ? circumstances.finding.transmissionRisk : sentRisk
    guard
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk, reportType: circumstances.finding.reportType,
        daysSinceOnsetOfSymptoms: days)
    else { return }
    taken.append(
      PublishableKey(
        key: diagnosisKey, regions: circumstances.regions, travels: circumstances.travels,
        releasedAt: Embargo.release(of: key, receivedAt: circumstances.now)))
  }
}
