// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A metric with its samples at one moment, in the data model of Prometheus.
///
/// Names are in snake case, with the base unit and, for a counter, `_total` at the end.
package struct MetricFamily: Hashable, Sendable {
  /// The type of a metric.
  package enum Kind: String, Sendable {
    /// A count since the start of the process.
    case counter
    /// A value that rises and falls.
    case gauge
    /// Counts of values by upper bounds.
    case histogram
  }

  package let name: String
  package let kind: Kind
  /// The meaning, in one sentence.
  package let help: String
  package var samples: [MetricSample]

  package init(_ name: String, _ kind: Kind, help: String, _ samples: [MetricSample]) {
    self.name = name
    self.kind = kind
    self.help = help
    self.samples = samples
  }

  /// A metric with one sample for each element of `values`, labeled with its key, in the order of the keys.
  package init<Value: BinaryInteger>(
    _ name: String, _ kind: Kind, help: String, by label: String, _ values: [String: Value]
  ) {
    self.init(
      name, kind, help: help,
      values.sorted { $0.key < $1.key }.map {
        MetricSample(Double($0.value), [MetricLabel(label, $0.key)])
      })
  }

  /// The same metric with another label before those of each sample.
  package func labeled(_ name: String, _ value: String) -> MetricFamily {
    var family = self
    for index in family.samples.indices {
      family.samples[index].labels.insert(MetricLabel(name, value), at: 0)
    }
    return family
  }
}

/// One value of a metric.
package struct MetricSample: Hashable, Sendable {
  package var value: Double
  package var labels: [MetricLabel]
  /// The end of the name, for the series of a histogram, such as `_bucket`.
  package var suffix = ""

  package init(_ value: Double, _ labels: [MetricLabel] = [], suffix: String = "") {
    self.value = value
    self.labels = labels
    self.suffix = suffix
  }
}

/// A label of a sample. Its value is never the data of a request.
package struct MetricLabel: Hashable, Sendable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension MetricFamily {
  /// The time of a server's clock, with which times of its metrics are compared.
  package static func clock(_ now: Date) -> MetricFamily {
    MetricFamily(
      "firebreak_clock_timestamp_seconds", .gauge, help: "The time of the server's clock.",
      [MetricSample(now.timeIntervalSince1970)])
  }

  /// The state of a server's database.
  package static func database(isReadable: Bool) -> MetricFamily {
    MetricFamily(
      "firebreak_database_readable", .gauge, help: "1 if the database of the server can be read.",
      [MetricSample(isReadable ? 1 : 0)])
  }
}
