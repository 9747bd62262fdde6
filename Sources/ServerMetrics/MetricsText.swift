// SPDX-License-Identifier: Apache-2.0
import TextEncodings

/// Metrics in the text format of Prometheus, version 0.0.4.
///
/// Families of the same name, which several servers of one process have, become one.
package struct MetricsText: Sendable {
  /// The media type of the text.
  package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text, which ends with a line feed unless it is empty.
  package let text: String

  package init(_ families: [MetricFamily]) {
    var merged: [String: MetricFamily] = [:]
    for family in families {
      if merged[family.name] == nil {
        merged[family.name] = family
      } else {
        merged[family.name]?.samples += family.samples
      }
    }
    text = merged.values.filter { !$0.samples.isEmpty }.sorted { $0.name < $1.name }
      .map(Self.text).joined()
  }

  private static func text(of family: MetricFamily) -> String {
    let head = """
      # HELP \(family.name) \(escaped(family.help))
      # TYPE \(family.name) \(family.kind.rawValue)

      """
    return head + family.samples.map { line(of: $0, family.name) }.joined()
  }

  private static func line(of sample: MetricSample, _ name: String) -> String {
    let labels = sample.labels.map {
      "\($0.name)=\"\(escaped($0.value).replacingScalars(["\"": "\\\""]))\""
    }
    let list = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
    return "\(name)\(sample.suffix)\(list) \(number(sample.value))\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacingScalars(["\\": "\\\\", "\n": "\\n"])
  }

  private static func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    return Int64(exactly: value).map(String.init) ?? "\(value)"
  }
}
