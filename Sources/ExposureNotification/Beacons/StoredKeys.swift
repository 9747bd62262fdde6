import ExposureKeys
import Foundation

/// The phone's own keys as they lie on the disk, under their seal.
struct StoredKeys: Codable {
  struct Key: Codable {
    let bytes: Data
    let start: UInt32
    let period: UInt32
  }

  let keys: [Key]

  init(_ own: OwnKeys) {
    keys = own.keys.map {
      Key(
        bytes: Data($0.secretBytes), start: $0.rollingStart.rawValue, period: $0.rollingPeriod)
    }
  }

  var ownKeys: OwnKeys {
    OwnKeys(
      keys.compactMap {
        TemporaryExposureKey(
          bytes: $0.bytes, rollingStart: IntervalNumber(rawValue: $0.start),
          rollingPeriod: $0.period)
      })
  }
}

extension StoredKeys.Key: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredKeys.Key" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
