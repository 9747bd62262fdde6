import Dispatch
import ExposureNotification
import Foundation

@testable import ExposureApp

/// An `ENManager` as apps make them for their tests: a subclass that answers by script.
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
    // Without Bluetooth it is on all the same (Documentation/Framework.md 8.2).
    if error == nil || error == .bluetoothOff { script.update { $0.isEnabled = enabled } }
    completionHandler(error.map { ENError($0) })
  }

  override func getDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    script.update { $0.timesKeysWereAsked += 1 }
    if let error = script.state.keysError { return completionHandler(nil, ENError(error)) }
    let keys = script.state.keys.map { key in
      let wire = ENTemporaryExposureKey()
      wire.keyData = key.data
      wire.rollingStartNumber = key.start
      wire.rollingPeriod = key.period
      return wire
    }
    completionHandler(keys, nil)
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
    if state.detectionHangs {
      progress.cancellationHandler = Once(completionHandler).refuse
    } else if let error = state.detectionError {
      completionHandler(nil, ENError(error))
    } else if names.contains(where: { name in state.refusedFiles.contains(where: name.contains) }) {
      completionHandler(nil, ENError(.badFormat))
    } else {
      completionHandler(ScriptedSummary(keys: state.matchedKeyCount), nil)
    }
    return progress
  }

  override func getExposureInfo(
    summary: ENExposureDetectionSummary, userExplanation: String,
    completionHandler: @escaping ENGetExposureInfoHandler
  ) -> Progress {
    script.update { $0.timesInfosWereAsked += 1 }
    completionHandler(script.state.found.map(ScriptedInfo.init), nil)
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

/// Calls a detection's handler from whatever thread cancels it.
private struct Once: @unchecked Sendable {
  let handler: ENDetectExposuresHandler

  init(_ handler: @escaping ENDetectExposuresHandler) { self.handler = handler }

  @Sendable func refuse() { handler(nil, ENError(.internal)) }
}

/// One encounter by script.
private final class ScriptedInfo: ENExposureInfo {
  private let found: (date: Date, seconds: Double, score: Double)

  init(_ found: (date: Date, seconds: Double, score: Double)) {
    self.found = found
    super.init()
  }

  override var date: Date { found.date }
  override var duration: TimeInterval { found.seconds }
  override var metadata: [AnyHashable: Any]? {
    ["totalRiskScoreFullRange": NSNumber(value: found.score)]
  }
}

/// One exposure window by script.
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

/// One scan by script.
private final class ScriptedScan: ENScanInstance {
  private let scan: RiskWindow.Scan

  init(_ scan: RiskWindow.Scan) {
    self.scan = scan
    super.init()
  }

  override var minimumAttenuation: ENAttenuation { scan.minimumAttenuation }
  override var secondsSinceLastScan: Int { scan.seconds }
}

/// A summary of so many keys.
private final class ScriptedSummary: ENExposureDetectionSummary {
  private let keys: UInt64

  init(keys: UInt64) {
    self.keys = keys
    super.init()
  }

  override var matchedKeyCount: UInt64 { keys }
}
