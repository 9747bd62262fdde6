import Dispatch

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
