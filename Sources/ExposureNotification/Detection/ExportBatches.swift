import DiagnosisKeyFile

/// The files of a detection by export. The batches of a divided export count only together.
struct ExportBatches {
  private struct Export: Hashable {
    let start: UInt64
    let end: UInt64
    let region: String
    let batchSize: Int32
  }

  private var numbers: [Export: Set<Int32>] = [:]

  /// Adds the file with the verified `header`, whose batch number is within its batch.
  mutating func add(_ header: KeyFileHeader) {
    let export = Export(
      start: header.start, end: header.end, region: header.region, batchSize: header.batchSize)
    numbers[export, default: []].insert(header.batchNumber)
  }

  /// Checks that no batch is missing.
  ///
  /// - Throws: `ENError.badFormat`, because results without the other batches would be incomplete.
  func checkCompleteness() throws(ENError) {
    for (export, present) in numbers where present.count < export.batchSize {
      throw ENError(
        .badFormat,
        explanation: """
          The key files are incomplete: only \(present.count) of \(export.batchSize) batches of an \
          export were passed; pass all of them in one call.
          """)
    }
  }
}
