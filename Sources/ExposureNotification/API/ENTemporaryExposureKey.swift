import Foundation

/// One of the person's own keys, as an app gets it to upload and fills in its risk level.
///
/// Apple's class: open, readable and writable. It says nothing by itself in a log.
open class ENTemporaryExposureKey: NSObject {
  /// The 16 secret bytes.
  open var keyData = Data()
  /// For how many intervals the key was used, 1...144.
  open var rollingPeriod: ENIntervalNumber = 144
  /// The first interval the key was used in.
  open var rollingStartNumber: ENIntervalNumber = 0
  /// How infectious the person is thought to have been; 0 until the app sets it.
  open var transmissionRiskLevel: ENRiskLevel = 0

  /// An empty key, to be filled in.
  public override init() {
    super.init()
  }

  open override var description: String { "ENTemporaryExposureKey(from \(rollingStartNumber))" }
}

extension ENTemporaryExposureKey: CustomReflectable {
  /// Empty: the bytes tell where a person was for a day.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
