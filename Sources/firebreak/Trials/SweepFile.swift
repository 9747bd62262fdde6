// SPDX-License-Identifier: Apache-2.0
import FieldTrials
import Foundation
import Terminal
import TextEncodings

/// The ranges of `--sweep` in JSON: `thresholds` with three and `weights` with four elements.
///
/// An element is a number, a list of numbers, or `{"from", "to", "step"}`.
struct SweepFile: Decodable {
  let sweep: ConfigurationSweep

  /// - Throws: `CommandFailure` that names the file and the invalid field.
  static func read(_ path: String) throws -> ConfigurationSweep {
    let file = try InputFile(path, what: "sweep")
    do {
      let sweep = try JSONDecoder().decode(Self.self, from: file.content).sweep
      guard file.isUnambiguousJSON else { throw CommandFailure.badInput(InputFile.ambiguity) }
      return sweep
    } catch let error as DecodingError {
      let otherwise = "expected a JSON object with thresholds and weights."
      throw CommandFailure.badInput("\(path.printable): \(error.message(otherwise: otherwise))")
    } catch let failure as CommandFailure {
      throw CommandFailure.badInput("\(path.printable): \(failure.message)")
    } catch let error as SweepError {
      throw CommandFailure.badInput("\(path.printable): \(error.description)")
    }
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: PropertyName.self)
    let known = Field.allCases.map(\.rawValue)
    if let unknown = fields.allKeys.first(where: { !known.contains($0.stringValue) }) {
      throw CommandFailure.badInput(
        "\(unknown.stringValue.printable) is not a field of a sweep: use thresholds and weights.")
    }
    let ranges = try Field.allCases.map { field in
      try decoder.container(keyedBy: Field.self).decode([RangeJSON].self, forKey: field)
        .map(\.range)
    }
    sweep = try ConfigurationSweep(thresholds: ranges[0], weights: ranges[1])
  }

  private enum Field: String, CodingKey, CaseIterable {
    case thresholds, weights
  }
}

/// One range of a sweep in JSON.
private struct RangeJSON: Decodable {
  let range: SweepRange

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let number = value.decodeIfMatching(Double.self) {
      range = .values([number])
    } else if let numbers = value.decodeIfMatching([Double].self) {
      range = .values(numbers)
    } else {
      let steps = try value.decode(Steps.self)
      range = .steps(from: steps.from, to: steps.to, by: steps.step)
    }
  }

  private struct Steps: Decodable {
    let from: Double
    let to: Double
    let step: Double
  }
}
