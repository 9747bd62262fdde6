// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Secrets

/// One of the user's own keys, which an app uploads after setting the risk level.
///
/// Its description and mirror do not show the key.
open class ENTemporaryExposureKey: NSObject {
  /// The 16 secret bytes.
  open var keyData = Data()
  /// The number of intervals in which the key was used, 1...144.
  open var rollingPeriod: ENIntervalNumber = 144
  /// The first interval in which the key was used.
  open var rollingStartNumber: ENIntervalNumber = 0
  /// The user's infectiousness on that day; 0 until the app sets it.
  open var transmissionRiskLevel: ENRiskLevel = 0

  /// An empty key.
  public override init() {
    super.init()
  }

  deinit {
    keyData.zero()
  }

  open override var description: String { "ENTemporaryExposureKey(from \(rollingStartNumber))" }
}

extension ENTemporaryExposureKey: Redacted {}

extension ENTemporaryExposureKey {
  /// The app's copy of one of the device's own keys.
  convenience init(_ key: TemporaryExposureKey) {
    self.init()
    keyData = withZeroedOnExit(key.secretBytes) { Data($0) }
    rollingPeriod = key.rollingPeriod
    rollingStartNumber = key.rollingStart.rawValue
  }
}
