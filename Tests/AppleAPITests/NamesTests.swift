// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

/// The constants, type aliases and enums of ENCommon.h.
struct NamesTests {
  @Test("Constants have Apple's values")
  func constants() {
    #expect(ENErrorDomain == "ENErrorDomain")
    #expect(ENAttenuationMin == 0 && ENAttenuationMax == 255)
    #expect(ENRiskLevelMin == 0 && ENRiskLevelMax == 7)
    #expect(ENRiskLevelValueMin == 0 && ENRiskLevelValueMax == 8)
    #expect(ENRiskScoreMin == 0 && ENRiskScoreMax == 255)
    #expect(ENRiskWeightDefault == 1 && ENRiskWeightMin == 0 && ENRiskWeightMax == 100)
    #expect(ENRiskWeightDefaultV2 == 100 && ENRiskWeightMaxV2 == 250)
    #expect(ENDaysSinceOnsetOfSymptomsUnknown == NSIntegerMax)
    #expect(NSIntegerMax == Int.max && NSIntegerMin == Int.min)
    let feature: Int32 = EN_FEATURE_GENERAL
    #expect(feature == 1)
  }

  @Test("Type aliases are the types that apps expect")
  func typealiases() {
    let error: ENErrorHandler = { (_: Error?) in }
    let keys: ENGetDiagnosisKeysHandler = { (_: [ENTemporaryExposureKey]?, _: Error?) in }
    let summary: ENDetectExposuresHandler = { (_: ENExposureDetectionSummary?, _: Error?) in }
    let infos: ENGetExposureInfoHandler = { (_: [ENExposureInfo]?, _: Error?) in }
    let windows: ENGetExposureWindowsHandler = { (_: [ENExposureWindow]?, _: Error?) in }
    let travel: ENGetUserTraveledHandler = { (_: Bool, _: Error?) in }
    let available: ENDiagnosisKeysAvailableHandler = { (_: [ENTemporaryExposureKey]) in }
    let activity: ENActivityHandler = { (_: ENActivityFlags) in }
    let block: dispatch_block_t = {}
    let queue: dispatch_queue_t = DispatchQueue.main
    error(nil)
    keys(nil, nil)
    summary(nil, nil)
    infos(nil, nil)
    windows(nil, nil)
    travel(false, nil)
    available([])
    activity([])
    block()
    #expect(queue.label == DispatchQueue.main.label)
    #expect(ENAttenuation.self == UInt8.self && ENIntervalNumber.self == UInt32.self)
    #expect(ENRiskLevel.self == UInt8.self && ENRiskLevelValue.self == UInt8.self)
    #expect(ENRiskScore.self == UInt8.self)
  }

  @Test("Enums have Apple's numbers")
  func enums() {
    let authorizations: [ENAuthorizationStatus] = [
      .unknown, .restricted, .notAuthorized, .authorized,
    ]
    #expect(authorizations.map(\.rawValue) == [0, 1, 2, 3] as [Int])
    let statuses: [ENStatus] = [
      .unknown, .active, .disabled, .bluetoothOff, .restricted, .paused, .unauthorized,
    ]
    #expect(statuses.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6] as [Int])
    let confidences: [ENCalibrationConfidence] = [.lowest, .low, .medium, .high]
    #expect(confidences.map(\.rawValue) == [0, 1, 2, 3] as [UInt8])
    let reports: [ENDiagnosisReportType] = [
      .unknown, .confirmedTest, .confirmedClinicalDiagnosis, .selfReported, .recursive, .revoked,
    ]
    #expect(reports.map(\.rawValue) == [0, 1, 2, 3, 4, 5] as [UInt32])
    let infectiousness: [ENInfectiousness] = [.none, .standard, .high]
    #expect(infectiousness.map(\.rawValue) == [0, 1, 2] as [UInt32])
    let variants: [ENVariantOfConcernType] = [.typeUnknown, .type1, .type2, .type3, .type4]
    #expect(variants.map(\.rawValue) == [0, 1, 2, 3, 4] as [UInt32])
    #expect(ENStatus(rawValue: 7) == nil && ENInfectiousness(rawValue: 2) == .high)
  }

  @Test("Activity flags are bits")
  func flags() {
    let flags: [ENActivityFlags] = [
      .reserved1, .reserved2, .periodicRun, .preAuthorizedKeyReleaseNotificationTapped,
    ]
    #expect(flags.map(\.rawValue) == [1, 2, 4, 8] as [UInt32])
    let both: ENActivityFlags = [.periodicRun, .reserved1]
    #expect(both.contains(.periodicRun) && both.rawValue == 5)
    #expect(ENActivityFlags(rawValue: 4) == .periodicRun)
  }
}
