// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Terminal

/// The result of one measurement.
protocol MeasurementReport: Encodable {
  /// The result for people; its JSON is for programs.
  var text: String { get }
}

/// The output option of all measurements.
struct MeasurementOutput: ParsableArguments {
  @Flag(help: "Print one JSON object.")
  var json = false

  /// Prints a result.
  func write(_ report: some MeasurementReport) throws {
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

/// The program of the product that is measured.
struct MeasuredProduct: ParsableArguments {
  @Option(help: "The firebreak executable; by default the one beside this program.")
  var firebreak: String?

  var executable: URL {
    firebreak.map { URL(fileURLWithPath: $0) } ?? FirebreakBenchmarks.productBeside
  }
}
