// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation

@testable import DiagnosisKeyFile

/// All fields of a key in a file, valid or not, for comparison.
struct ReadKey: Equatable {
  var keyData: [UInt8]?
  var transmissionRiskLevel: Int32 = 0
  var rollingStart: Int32 = 0
  var rollingPeriod: Int32 = 144
  var reportType: ReportType?
  var days: Int32?
  var variant: VariantOfConcern?

  /// The fields that the scanner read.
  init(_ fields: borrowing KeyFields) {
    keyData = fields.keyData.map { Array($0) }
    transmissionRiskLevel = fields.transmissionRiskLevel
    rollingStart = fields.rollingStart
    rollingPeriod = fields.rollingPeriod
    reportType = ReportType(rawValue: Int32(fields.reportType))
    days = fields.hasDays ? fields.days : nil
    variant = UInt8(exactly: fields.variantOfConcern).flatMap(VariantOfConcern.init)
  }

  /// The fields that SwiftProtobuf read.
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

  /// The encoded message, with ascending fields and without default values.
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

/// The message `TemporaryExposureKey` of export.proto, with the fields that are set.
struct KeyMessage: Equatable {
  var keyData: [UInt8]?
  var transmissionRiskLevel: Int32?
  var rollingStartIntervalNumber: Int32?
  var rollingPeriod: Int32?
  var reportType: ReportType?
  var daysSinceOnsetOfSymptoms: Int32?
  var variantOfConcern: VariantOfConcern?
}

extension KeyMessage {
  /// The encoded message: the fields that are set, ascending, zeros included.
  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    if let keyData { bytes.appendField(1, keyData) }
    if let transmissionRiskLevel { bytes.appendField(2, transmissionRiskLevel) }
    if let rollingStartIntervalNumber { bytes.appendField(3, rollingStartIntervalNumber) }
    if let rollingPeriod { bytes.appendField(4, rollingPeriod) }
    if let reportType { bytes.appendField(5, reportType.rawValue) }
    if let days = daysSinceOnsetOfSymptoms { bytes.appendField(6, zigzag: days) }
    if let variantOfConcern { bytes.appendField(8, Int32(variantOfConcern.rawValue)) }
    return bytes
  }
}

extension [UInt8] {
  /// A length-delimited field.
  mutating func appendField(_ number: UInt64, _ content: [UInt8]) {
    appendVarint(number << 3 | ProtobufCursor.WireType.lengthDelimited.rawValue)
    appendVarint(UInt64(content.count))
    append(contentsOf: content)
  }

  /// An `int32` field.
  mutating func appendField(_ number: UInt64, _ value: Int32) {
    appendVarint(number << 3 | ProtobufCursor.WireType.varint.rawValue)
    appendVarint(UInt64(bitPattern: Int64(value)))
  }

  /// A `sint32` field.
  mutating func appendField(_ number: UInt64, zigzag value: Int32) {
    appendVarint(number << 3 | ProtobufCursor.WireType.varint.rawValue)
    appendVarint(UInt64(UInt32(bitPattern: value << 1 ^ value >> 31)))
  }
}
