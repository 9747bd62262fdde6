import ExposureKeys
import Foundation

extension ENTemporaryExposureKey {
  /// The app's copy of one of the phone's own keys.
  convenience init(_ key: TemporaryExposureKey) {
    self.init()
    keyData = Data(key.secretBytes)
    rollingPeriod = key.rollingPeriod
    rollingStartNumber = key.rollingStart.rawValue
  }
}
