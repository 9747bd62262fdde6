// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExposureNotification
import Foundation
import RiskRules
import Synchronization

@testable import ExposureApp

/// The results and the recorded calls of a `ScriptedFramework`.
final class FrameworkScript: Sendable {
  struct State: Sendable {
    var authorization = ENAuthorizationStatus.authorized
    var status = ENStatus.active
    var isEnabled = true
    var enableError: ENError.Code?
    var keysError: ENError.Code?
    var keys: [(data: Data, start: UInt32, period: UInt32)] = []
    /// Files whose name contains one of these strings are refused as malformed.
    var refusedFiles: Set<String> = []
    var detectionError: ENError.Code?
    /// The encounters that each detection finds.
    var found: [(date: Date, seconds: Double, score: Double)] = []
    /// The seconds of each encounter by range of attenuation.
    var durations: [Int] = []
    /// The windows that each detection of API version 2 finds.
    var windows: [RiskWindow] = []
    var windowsError: ENError.Code?
    var matchedKeyCount: UInt64 = 0
    /// The infectiousness map of each detection.
    var maps: [[Int: Int]?] = []
    /// If true, a detection waits until its progress is cancelled.
    var detectionHangs = false
    /// If true, calls never call their handlers.
    var isSilent = false
    /// The damage that the framework reports.
    var damage: [DataDamage] = []
    /// Files that must be passed again, because the framework has lost its results.
    var lostFiles: Set<String> = []
    /// Damage that the next detection finds.
    var damageInDetection: [DataDamage] = []
    var detections: [[String]] = []
    var infoRequestCount = 0
    var keyRequestCount = 0
    var preAuthorizationError: ENError.Code?
    /// True while the user's consent in advance is not used.
    var isPreAuthorized = false
  }

  private let mutex = Mutex(State())

  var state: State {
    get { mutex.withLock { $0 } }
    set { mutex.withLock { $0 = newValue } }
  }

  func update(_ change: (inout State) -> Void) { mutex.withLock { change(&$0) } }
}

/// An `ENManager` subclass with scripted results.
final class ScriptedFramework: ENManager {
  private let script: FrameworkScript

  init(_ script: FrameworkScript) {
    self.script = script
    super.init()
  }

  override var exposureNotificationStatus: ENStatus { script.state.status }
  override var exposureNotificationEnabled: Bool { script.state.isEnabled }

  override func activate(completionHandler: @escaping ENErrorHandler) { completionHandler(nil) }

  override func setExposureNotificationEnabled(
    _ enabled: Bool, completionHandler: @escaping ENErrorHandler
  ) {
    let error = script.state.enableError
    // Without Bluetooth it is enabled as well.
    if error == nil || error == .bluetoothOff { script.update { $0.isEnabled = enabled } }
    completionHandler(error.map { ENError($0) })
  }

  override func preAuthorizeDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    let error = script.state.preAuthorizationError
    script.update { $0.isPreAuthorized = error == nil }
    completionHandler(error.map { ENError($0) })
  }

  override func requestPreAuthorizedDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    if script.state.isPreAuthorized {
      diagnosisKeysAvailableHandler?(script.state.keys.map(Self.wire))
    }
    script.update { $0.isPreAuthorized = false }
    completionHandler(nil)
  }

  override func getDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    script.update { $0.keyRequestCount += 1 }
    if script.state.isSilent { return }
    if let error = script.state.keysError { return completionHandler(nil, ENError(error)) }
    completionHandler(script.state.keys.map(Self.wire), nil)
  }

  private static func wire(
    _ key: (data: Data, start: UInt32, period: UInt32)
  ) -> ENTemporaryExposureKey {
    let wire = ENTemporaryExposureKey()
    wire.keyData = key.data
    wire.rollingStartNumber = key.start
    wire.rollingPeriod = key.period
    return wire
  }

  override func detectExposures(
    configuration: ENExposureConfiguration, diagnosisKeyURLs: [URL],
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    let names = diagnosisKeyURLs.map(\.lastPathComponent)
    let map = configuration.infectiousnessForDaysSinceOnsetOfSymptoms
    script.update {
      $0.detections.append(names)
      $0.maps.append(
        map.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.intValue, $1.intValue) }) })
    }
    let progress = Progress(totalUnitCount: 1)
    let state = script.state
    script.update {
      $0.damage += $0.damageInDetection
      $0.damageInDetection = []
    }
    if state.isSilent {
      return progress
    } else if state.detectionHangs {
      progress.cancellationHandler = Once(completionHandler).refuse
    } else if isRefused(names), !state.lostFiles.isEmpty {
      completionHandler(nil, ENError(.badFormat))
    } else if !state.lostFiles.isSubset(of: names) {
      // The files may be passed in several calls.
      script.update { $0.lostFiles.subtract(names) }
      completionHandler(nil, ENError(.dataInaccessible))
    } else if let error = state.detectionError {
      completionHandler(nil, ENError(error))
    } else if isRefused(names) {
      completionHandler(nil, ENError(.badFormat))
    } else {
      let keys = state.matchedKeyCount == 0 ? UInt64(state.found.count) : state.matchedKeyCount
      completionHandler(ScriptedSummary(keys: keys), nil)
    }
    return progress
  }

  private func isRefused(_ names: [String]) -> Bool {
    let refused = script.state.refusedFiles
    return names.contains { name in refused.contains(where: name.contains) }
  }

  override func getExposureInfo(
    summary: ENExposureDetectionSummary, userExplanation: String,
    completionHandler: @escaping ENGetExposureInfoHandler
  ) -> Progress {
    script.update { $0.infoRequestCount += 1 }
    let durations = script.state.durations
    completionHandler(script.state.found.map { ScriptedInfo($0, durations: durations) }, nil)
    return Progress(totalUnitCount: 1)
  }

  override func getExposureWindows(
    summary: ENExposureDetectionSummary, completionHandler: @escaping ENGetExposureWindowsHandler
  ) -> Progress {
    if let error = script.state.windowsError {
      completionHandler(nil, ENError(error))
    } else {
      completionHandler(script.state.windows.map(ScriptedWindow.init), nil)
    }
    return Progress(totalUnitCount: 1)
  }
}

/// Calls the handler of a detection on the cancelling thread.
private struct Once: @unchecked Sendable {
  let handler: ENDetectExposuresHandler

  init(_ handler: @escaping ENDetectExposuresHandler) { self.handler = handler }

  @Sendable func refuse() { handler(nil, ENError(.internal)) }
}

/// A scripted encounter.
private final class ScriptedInfo: ENExposureInfo {
  private let found: (date: Date, seconds: Double, score: Double)
  private let durations: [Int]

  init(_ found: (date: Date, seconds: Double, score: Double), durations: [Int]) {
    self.found = found
    self.durations = durations
    super.init()
  }

  override var date: Date { found.date }
  override var attenuationDurations: [NSNumber] { durations.map { NSNumber(value: $0) } }
  override var duration: TimeInterval { found.seconds }
  override var metadata: [AnyHashable: Any]? {
    ["totalRiskScoreFullRange": NSNumber(value: found.score)]
  }
}

/// A scripted exposure window.
private final class ScriptedWindow: ENExposureWindow {
  private let window: RiskWindow

  init(_ window: RiskWindow) {
    self.window = window
    super.init()
  }

  override var date: Date { window.date }
  override var diagnosisReportType: ENDiagnosisReportType { window.reportType }
  override var infectiousness: ENInfectiousness { window.infectiousness }
  override var calibrationConfidence: ENCalibrationConfidence { window.calibrationConfidence }
  override var scanInstances: [ENScanInstance] { window.scans.map(ScriptedScan.init) }
}

/// A scripted scan.
private final class ScriptedScan: ENScanInstance {
  private let scan: RiskWindow.Scan

  init(_ scan: RiskWindow.Scan) {
    self.scan = scan
    super.init()
  }

  override var minimumAttenuation: ENAttenuation { scan.minimumAttenuation }
  override var secondsSinceLastScan: Int { scan.seconds }
}

/// A scripted summary.
private final class ScriptedSummary: ENExposureDetectionSummary {
  private let keys: UInt64

  init(keys: UInt64) {
    self.keys = keys
    super.init()
  }

  override var matchedKeyCount: UInt64 { keys }
}
