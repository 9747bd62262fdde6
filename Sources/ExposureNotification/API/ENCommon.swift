import Dispatch

// The free names of Apple's ENCommon.h, as Swift sees them.

/// The domain of every `ENError`.
public let ENErrorDomain = "ENErrorDomain"
/// The features that this framework has, for conditional compilation.
public var EN_FEATURE_GENERAL: Int32 { 1 }

/// Called when something ended, with the reason where it failed.
public typealias ENErrorHandler = ((any Error)?) -> Void
/// Called with the person's own keys, or with the reason there are none.
public typealias ENGetDiagnosisKeysHandler = ([ENTemporaryExposureKey]?, (any Error)?) -> Void
/// Called with keys that the person released ahead of time.
public typealias ENDiagnosisKeysAvailableHandler = ([ENTemporaryExposureKey]) -> Void
/// Called with whether the person has left the region, or with the reason nobody can say.
public typealias ENGetUserTraveledHandler = (Bool, (any Error)?) -> Void
/// Called with the reason the system woke the app.
public typealias ENActivityHandler = (ENActivityFlags) -> Void

/// Advertised transmit power less measured signal strength, in decibels.
public typealias ENAttenuation = UInt8
/// Unix time in steps of ten minutes.
public typealias ENIntervalNumber = UInt32
/// How infectious a person was thought to be, 0...7.
public typealias ENRiskLevel = UInt8
/// What a configuration makes of a level, 0...8.
public typealias ENRiskLevelValue = UInt8
/// A risk score of API version 1, 0...255.
public typealias ENRiskScore = UInt8

/// The weakest loss.
public var ENAttenuationMin: Int { 0 }
/// The strongest loss.
public var ENAttenuationMax: Int { 255 }
/// The lowest risk level.
public var ENRiskLevelMin: Int { 0 }
/// The highest risk level.
public var ENRiskLevelMax: Int { 7 }
/// The lowest value a configuration may give to a level.
public var ENRiskLevelValueMin: Int { 0 }
/// The highest value a configuration may give to a level.
public var ENRiskLevelValueMax: Int { 8 }
/// The lowest risk score.
public var ENRiskScoreMin: Int { 0 }
/// The highest risk score, where scores are capped.
public var ENRiskScoreMax: Int { 255 }
/// The weight of a table of API version 1 where nothing else is said.
public var ENRiskWeightDefault: Int { 1 }
/// The lowest weight.
public var ENRiskWeightMin: Int { 0 }
/// The highest weight of API version 1.
public var ENRiskWeightMax: Int { 100 }
/// The weight of API version 2 where nothing else is said, in percent.
public var ENRiskWeightDefaultV2: Int { 100 }
/// The highest weight of API version 2, in percent.
public var ENRiskWeightMaxV2: Int { 250 }
/// Stands for a day of first symptoms that nobody knows.
public let ENDaysSinceOnsetOfSymptomsUnknown = Int.max

/// Apple's C name of a queue, which apps still write.
public typealias dispatch_queue_t = DispatchQueue
/// Apple's C name of a block of work.
public typealias dispatch_block_t = () -> Void
/// Objective-C's name of the largest `Int`.
public let NSIntegerMax = Int.max
/// Objective-C's name of the smallest `Int`.
public let NSIntegerMin = Int.min
