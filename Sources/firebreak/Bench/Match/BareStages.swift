import CExposureKernels
import ExposureKeys
import ExposureNotification
import Foundation

/// The kernels of one tier with their data laid out, nothing around them.
struct BareStages {
  /// Identifiers that are probed over and over: half a mebibyte, so that they stay in cache, as in a match
  /// they never leave the registers.
  private static let identifiersProbed = 32_768

  private let keyCount: Int
  private let tier: ek_tier
  private let keys: [UInt8]
  private let identifierKeys: [UInt8]
  private let identifiers: [UInt8]
  private let filter: BareFilter

  init(of workload: MatchWorkload, tier: MatchTier, filter: BareFilter) {
    keyCount = Self.keyCount(of: workload)
    self.tier = tier.kernels
    keys = (0..<keyCount).flatMap { workload.key($0)?.key.secretBytes ?? [] }
    var derived = [UInt8](repeating: 0, count: keys.count)
    ek_identifier_keys(self.tier, keys, keyCount, &derived)
    identifierKeys = derived
    identifiers = Self.identifiers(of: derived, tier: self.tier)
    self.filter = filter
  }

  /// How many keys each stage takes.
  static func keyCount(of workload: MatchWorkload) -> Int {
    min(workload.keyCount, KernelLimit.keyCountMax)
  }

  /// Does the stage once, and returns for how many keys.
  func run(_ stage: BareStage) -> Int {
    switch stage {
    case .schedule: schedule()
    case .blocks: blocks()
    case .probe: probe()
    }
    return keyCount
  }

  private func schedule() {
    var buffer = [UInt8](repeating: 0, count: Int(EK_BARE_BATCH) * TemporaryExposureKey.byteCount)
    ek_bare_schedule(tier, keys, keyCount, &buffer)
  }

  private func blocks() {
    _ = ek_bare_blocks(tier, identifierKeys, MatchWorkload.firstInterval, keyCount)
  }

  /// Asks for as many identifiers as the keys have.
  private func probe() {
    let count = identifiers.count / RollingProximityIdentifier.byteCount
    var left = keyCount * Int(IntervalNumber.perDay)
    while left > 0 {
      _ = filter.probe(tier, identifiers, min(left, count))
      left -= count
    }
  }

  private static func identifiers(of identifierKeys: [UInt8], tier: ek_tier) -> [UInt8] {
    let (size, perKey) = (TemporaryExposureKey.byteCount, Int(IntervalNumber.perDay))
    let all = stride(from: 0, to: identifierKeys.count, by: size).lazy.flatMap { start in
      var ofKey = [UInt8](repeating: 0, count: perKey * size)
      identifierKeys[start..<start + size].withUnsafeBufferPointer {
        ek_identifiers(
          tier, $0.baseAddress, MatchWorkload.firstInterval, IntervalNumber.perDay, &ofKey)
      }
      return ofKey
    }
    return Array(all.prefix(identifiersProbed * size))
  }
}
