import ExposureNotification
import Foundation

/// A key of a diagnosed person, as it goes to the server.
public struct PublishedKey: Codable, Equatable {
  /// The 16 bytes.
  public let keyData: Data
  /// For how many ten-minute intervals it was used.
  public let rollingPeriod: UInt32
  /// The first of them.
  public let rollingStartNumber: UInt32
  /// How infectious the person is thought to have been, 0 to 7.
  public let transmissionRiskLevel: UInt8

  /// What the framework handed out, with the risk level that the app has given it.
  init(_ key: ENTemporaryExposureKey) {
    keyData = key.keyData
    rollingPeriod = key.rollingPeriod
    rollingStartNumber = key.rollingStartNumber
    transmissionRiskLevel = key.transmissionRiskLevel
  }
}
