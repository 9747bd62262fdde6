import DiagnosisKeyFile
import Foundation

/// How a detection judges files and matches, taken from an app's configuration and the phone.
///
/// A value: the app may change its configuration object afterwards.
struct DetectionRules: Sendable {
  let scoring: Scoring
  /// True if keys that were used for less than a day are ignored.
  let requiresFullDayKeys: Bool
  let verificationKeys: [VerificationPublicKey]
  /// The region whose files are taken; nil where the keys alone decide.
  private let region: String?

  /// Throws `ENError.badParameter` with a sentence that names the field out of range.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int,
    verificationKeys: [VerificationPublicKey]
  ) throws(ENError) {
    scoring = try Scoring(configuration, apiVersion: apiVersion)
    requiresFullDayKeys = false
    self.verificationKeys = verificationKeys
    region = nil
  }

  /// The rules of a phone of `region`.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int, durationStep: Int = 1,
    requiresFullDayKeys: Bool = false, region: RegionConfiguration
  ) throws(ENError) {
    scoring = try Scoring(configuration, apiVersion: apiVersion, durationStep: durationStep)
    self.requiresFullDayKeys = requiresFullDayKeys
    verificationKeys = region.keys
    self.region = region.region
  }

  /// Days since the first symptoms to how infectious; version 2 only.
  var infectiousnessMap: [Int: UInt32]? {
    guard case .windows(let rules, _) = scoring else { return nil }
    return rules.map
  }

  /// Throws `ENError.badFormat` for the file of another region.
  ///
  /// A file names its region by ISO code, of the country or the state, or by the identifier of the
  /// key, as Apple's example does; one that names none is judged by its signature alone.
  func check(_ header: KeyFileHeader) throws(ENError) {
    guard let region, !header.region.isEmpty else { return }
    let country = region.split(separator: "-").first.map(String.init) ?? region
    let names = [region, country] + verificationKeys.map(\.keyID)
    guard names.contains(header.region) else {
      throw ENError(
        .badFormat,
        explanation: "A key file is of another region than \(region); pass those of this region.")
    }
  }
}
