import ExposureKeys
import Foundation

@testable import DiagnosisKeyFile

/// All that a file says of one key, usable or not, kept for comparison.
struct ReadKey: Equatable {
  var keyData: [UInt8]?
  var transmissionRiskLevel: Int32 = 0
  var rollingStart: Int32 = 0
  var rollingPeriod: Int32 = 144
  var reportType: ReportType?
  var days: Int32?
  var variant: VariantOfConcern?

  /// What the scanner read.
  init(_ fields: borrowing KeyFields) {
    keyData = fields.keyData.map { Array($0) }
    transmissionRiskLevel = fields.transmissionRiskLevel
    rollingStart = fields.rollingStart
    rollingPeriod = fields.rollingPeriod
    reportType = ReportType(rawValue: Int32(fields.reportType))
    days = fields.hasDays ? fields.days : nil
    variant = UInt8(exactly: fields.variantOfConcern).flatMap(VariantOfConcern.init)
  }

  /// The same key as SwiftProtobuf read it.
  init(wire: WireTemporaryExposureKey) {
    keyData = wire.hasKeyData ? Array(wire.keyData) : nil
    if wire.hasTransmissionRiskLevel { transmissionRiskLevel = wire.transmissionRiskLevel }
    if wire.hasRollingStartIntervalNumber { rollingStart = wire.rollingStartIntervalNumber }
    if wire.hasRollingPeriod { rollingPeriod = wire.rollingPeriod }
    reportType =
      wire.hasReportType ? ReportType(rawValue: Int32(wire.reportType.rawValue)) : nil
    days = wire.hasDaysSinceOnsetOfSymptoms ? wire.daysSinceOnsetOfSymptoms : nil
    variant =
      wire.hasVariantOfConcern
      ? VariantOfConcern(rawValue: UInt8(wire.variantOfConcern.rawValue)) : nil
  }

  /// The message in bytes, its fields ascending, what is at its default left out.
  var encoded: [UInt8] {
    var message = KeyMessage(keyData: keyData)
    if transmissionRiskLevel != 0 { message.transmissionRiskLevel = transmissionRiskLevel }
    if rollingStart != 0 { message.rollingStartIntervalNumber = rollingStart }
    if rollingPeriod != 144 { message.rollingPeriod = rollingPeriod }
    message.reportType = reportType
    message.daysSinceOnsetOfSymptoms = days
    message.variantOfConcern = variant
    return message.encoded
  }
}
