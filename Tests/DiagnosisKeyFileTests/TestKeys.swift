import ExposureKeys
import TestSupport

/// `count` different keys in file order, with every optional field used by some.
func testKeys(_ count: Int, seed: UInt64 = 1) -> [DiagnosisKey] {
  var generator = SeededGenerator(seed: seed)
  return (0..<count).compactMap { index in
    let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let start = IntervalNumber(rawValue: 2_650_000 + UInt32(index % 14) * 144)
    let period: UInt32 = index % 5 == 0 ? UInt32(index % 143) + 1 : 144
    return TemporaryExposureKey(bytes: bytes, rollingStart: start, rollingPeriod: period).flatMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: UInt8(index % 9),
        reportType: index % 7 == 6 ? nil : ReportType(rawValue: Int32(index % 7)),
        daysSinceOnsetOfSymptoms: index % 3 == 0 ? nil : Int32(index % 29) - 14,
        variantOfConcern: VariantOfConcern(rawValue: UInt8(index % 6)))
    }
  }.sorted(by: DiagnosisKey.inFileOrder)
}
