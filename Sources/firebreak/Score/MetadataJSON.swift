import Foundation

/// The two fields that apps for iOS 13.5 set in `metadata`; the framework lets them win.
struct MetadataJSON: Decodable {
  private let attenuationDurationThresholds: [Double]?
  private let minimumRiskScoreFullRange: Double?

  var values: [AnyHashable: Any] {
    var values: [AnyHashable: Any] = [:]
    values["attenuationDurationThresholds"] = attenuationDurationThresholds?
      .map(NSNumber.init(value:))
    values["minimumRiskScoreFullRange"] = minimumRiskScoreFullRange.map(NSNumber.init(value:))
    return values
  }
}
