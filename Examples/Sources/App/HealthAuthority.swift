// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The server of the health authority. Handlers are called on the main queue.
public protocol HealthAuthority: AnyObject {
  /// Returns `true` if `code` belongs to a positive test and is unused.
  func verify(code: String, completion: @escaping (Result<Bool, Error>) -> Void)

  /// Publishes keys that the server does not have yet, and uses the code. The same keys with the same code
  /// succeed again.
  func post(_ keys: [PublishedKey], code: String, completion: @escaping (Error?) -> Void)

  /// The numbers of the key files from `number` on, ascending.
  func keyFiles(from number: Int, completion: @escaping (Result<[Int], Error>) -> Void)

  /// Downloads one key file; the app deletes it.
  func download(keyFile number: Int, completion: @escaping (Result<URL, Error>) -> Void)

  /// Returns the scoring parameters.
  func criteria(completion: @escaping (Result<ExposureCriteria, Error>) -> Void)
}

/// A key of a diagnosed user in an upload.
public struct PublishedKey: Codable, Equatable {
  /// The 16 bytes.
  public let keyData: Data
  /// The number of ten-minute intervals of the key.
  public let rollingPeriod: UInt32
  /// The first interval.
  public let rollingStartNumber: UInt32
  /// The transmission risk level, 0 to 7.
  public let transmissionRiskLevel: UInt8

  /// Copies a key of the framework, whose risk level the app has set.
  init(_ key: ENTemporaryExposureKey) {
    keyData = key.keyData
    rollingPeriod = key.rollingPeriod
    rollingStartNumber = key.rollingStartNumber
    transmissionRiskLevel = key.transmissionRiskLevel
  }
}

/// The scoring parameters of the authority.
public struct ExposureCriteria: Codable {
  let minimumRiskScore: UInt8
  let attenuationDurationThresholds: [Int]
  let attenuationLevelValues: [UInt8]
  let daysSinceLastExposureLevelValues: [UInt8]
  let durationLevelValues: [UInt8]
  let transmissionRiskLevelValues: [UInt8]

  /// The framework's configuration. The thresholds are in `metadata`, as apps for iOS 13.5 set them.
  var configuration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = minimumRiskScore
    configuration.attenuationLevelValues = attenuationLevelValues as [NSNumber]
    configuration.daysSinceLastExposureLevelValues = daysSinceLastExposureLevelValues as [NSNumber]
    configuration.durationLevelValues = durationLevelValues as [NSNumber]
    configuration.transmissionRiskLevelValues = transmissionRiskLevelValues as [NSNumber]
    configuration.metadata = ["attenuationDurationThresholds": attenuationDurationThresholds]
    return configuration
  }
}
