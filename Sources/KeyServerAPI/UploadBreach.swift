/// Which rule of `UploadLimit` an upload's keys break.
public enum UploadBreach: String, Error, Sendable, CaseIterable {
  case keyCount, keysWithOneStart, keyBytes, rollingPeriod, transmissionRisk, future, age
  case repeatedKey, overlap
}

extension UploadBreach: CustomStringConvertible {
  /// The rule in one sentence, without anything of the keys.
  public var description: String {
    switch self {
    case .keyCount: "An upload holds 1 to 30 keys."
    case .keysWithOneStart: "At most 3 keys may share one rollingStartNumber."
    case .keyBytes: "A key is the base64 of 16 bytes."
    case .rollingPeriod: "A rollingPeriod is 1 to 144."
    case .transmissionRisk: "A transmissionRisk is 0 to 8."
    case .future: "A key must not start in the future."
    case .age: "A key must not have ended more than 15 days ago."
    case .repeatedKey: "A key may be in an upload once."
    case .overlap: "Keys may overlap only where they share their rollingStartNumber."
    }
  }
}
