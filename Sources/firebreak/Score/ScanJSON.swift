import ExposureNotification
import Foundation

/// One scan of a window in JSON.
struct ScanJSON: Decodable {
  let scan: ScanInstance

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    scan = ScanInstance(
      minimumAttenuation: try fields.checked(
        .minimumAttenuation, Self.attenuationNeed, UInt8.init(exactly:) as (Int) -> UInt8?),
      typicalAttenuation: try fields.checked(
        .typicalAttenuation, Self.attenuationNeed, UInt8.init(exactly:) as (Int) -> UInt8?),
      secondsSinceLastScan: try fields.checked(
        .secondsSinceLastScan,
        "needs whole seconds from 0 to \(ScoreLimit.secondsSinceLastScan.upperBound)"
      ) { (seconds: Int) in
        ScoreLimit.secondsSinceLastScan.contains(seconds) ? seconds : nil
      })
  }

  private static let attenuationNeed = "needs a whole number of dB from 0 to 255"

  private enum Field: String, CodingKey {
    case minimumAttenuation, typicalAttenuation, secondsSinceLastScan
  }
}
