// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// The state of sending and receiving beacons.
@frozen public enum ENStatus: Int, Sendable {
  /// Not activated yet.
  case unknown = 0
  /// Sending and receiving.
  case active = 1
  /// Turned off.
  case disabled = 2
  /// Turned on, but the radio is off.
  case bluetoothOff = 3
  /// Not possible on this device.
  case restricted = 4
  /// Turned off temporarily by the system.
  case paused = 5
  /// The user has not allowed it.
  case unauthorized = 6
}

/// The user's decision about the app's use of exposure notification.
@frozen public enum ENAuthorizationStatus: Int, Sendable {
  /// Never asked.
  case unknown = 0
  /// Forbidden on this device, regardless of the user.
  case restricted = 1
  /// The user declined; only the system's settings can change it.
  case notAuthorized = 2
  /// The user agreed.
  case authorized = 3
}

/// The reasons for which the system woke the app, with Apple's bits.
public struct ENActivityFlags: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32

  /// The reasons whose bits are set.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Reserved.
  public static let reserved1 = ENActivityFlags(rawValue: 1 << 0)
  /// Reserved.
  public static let reserved2 = ENActivityFlags(rawValue: 1 << 1)
  /// Time for the app's regular check.
  public static let periodicRun = ENActivityFlags(rawValue: 1 << 2)
  /// The user tapped the notification about the release of pre-authorized keys.
  public static let preAuthorizedKeyReleaseNotificationTapped = ENActivityFlags(rawValue: 1 << 3)
}

/// The basis of a diagnosis.
@frozen public enum ENDiagnosisReportType: UInt32, Sendable {
  /// Not stated.
  case unknown = 0
  /// A laboratory test.
  case confirmedTest = 1
  /// A doctor's diagnosis.
  case confirmedClinicalDiagnosis = 2
  /// The user's own report.
  case selfReported = 3
  /// A contact of a contact; reserved.
  case recursive = 4
  /// Withdrawn.
  case revoked = 5
}

/// The infectiousness of a diagnosed user on the day of an exposure.
@frozen public enum ENInfectiousness: UInt32, Sendable {
  /// Not infectious: the exposure does not count.
  case none = 0
  /// Average.
  case standard = 1
  /// Above average.
  case high = 2
}

/// The variant of concern of the virus.
@frozen public enum ENVariantOfConcernType: UInt32, Sendable {
  /// Not stated.
  case typeUnknown = 0
  /// Vaccines work against it.
  case type1 = 1
  /// It spreads very easily.
  case type2 = 2
  /// It causes severe disease.
  case type3 = 3
  /// Vaccines do not work against it.
  case type4 = 4
}

/// The confidence in the calibration of a beacon's transmit power.
@frozen public enum ENCalibrationConfidence: UInt8, Sendable {
  /// Not calibrated.
  case lowest = 0
  /// Calibrated for the average of the manufacturer's models.
  case low = 1
  /// Calibrated for a similar model.
  case medium = 2
  /// Calibrated for this model.
  case high = 3
}

// The constants and type aliases of Apple's ENCommon.h.

/// The domain of every `ENError`.
public let ENErrorDomain = "ENErrorDomain"
/// 1: the framework has the general features. For conditional compilation.
public var EN_FEATURE_GENERAL: Int32 { 1 }

/// The transmit power minus the received signal strength, in dB.
public typealias ENAttenuation = UInt8
/// Unix time divided into intervals of ten minutes.
public typealias ENIntervalNumber = UInt32
/// The transmission risk level of a key, 0...7.
public typealias ENRiskLevel = UInt8
/// The value that a configuration assigns to a level, 0...8.
public typealias ENRiskLevelValue = UInt8
/// A risk score of API version 1, 0...255.
public typealias ENRiskScore = UInt8

/// The lowest attenuation.
public var ENAttenuationMin: Int { 0 }
/// The highest attenuation.
public var ENAttenuationMax: Int { 255 }
/// The lowest risk level.
public var ENRiskLevelMin: Int { 0 }
/// The highest risk level.
public var ENRiskLevelMax: Int { 7 }
/// The lowest value that a configuration may assign to a level.
public var ENRiskLevelValueMin: Int { 0 }
/// The highest value that a configuration may assign to a level.
public var ENRiskLevelValueMax: Int { 8 }
/// The lowest risk score.
public var ENRiskScoreMin: Int { 0 }
/// The highest capped risk score.
public var ENRiskScoreMax: Int { 255 }
/// The default weight of a table of API version 1.
public var ENRiskWeightDefault: Int { 1 }
/// The lowest weight.
public var ENRiskWeightMin: Int { 0 }
/// The highest weight of API version 1.
public var ENRiskWeightMax: Int { 100 }
/// The default weight of API version 2, in percent.
public var ENRiskWeightDefaultV2: Int { 100 }
/// The highest weight of API version 2, in percent.
public var ENRiskWeightMaxV2: Int { 250 }
/// The value for an unknown day of the first symptoms.
public let ENDaysSinceOnsetOfSymptomsUnknown = Int.max

/// The C name of a dispatch queue.
public typealias dispatch_queue_t = DispatchQueue
/// The C name of a block.
public typealias dispatch_block_t = () -> Void
/// Objective-C's name of the largest `Int`.
public let NSIntegerMax = Int.max
/// Objective-C's name of the smallest `Int`.
public let NSIntegerMin = Int.min
