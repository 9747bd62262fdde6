// SPDX-License-Identifier: Apache-2.0
import Bench
import Terminal

/// The result of `key-server`, as `--json` prints it. What was not measured is nil or empty.
struct KeyServerReport: MeasurementReport {
  /// Requests for an index that the client has.
  struct Index: Encodable {
    /// The requests to each server.
    let requests: Int
    /// The processor time of the key server by request.
    let microseconds: Double
    /// The processor time of nginx by request, with the same file; nil if it is not installed.
    let nginxMicroseconds: Double?
  }

  /// The import or the export of one file.
  struct File: Encodable {
    let keys: Int
    let seconds: Double
    let processorSeconds: Double
    /// The peak of the process without the program and its libraries; nil for an import.
    let ownMemoryMiB: Double?
  }

  /// Matching of the same keys from an unzipped file and from a zip: medians of the processor time by key.
  struct Match: Encodable {
    let keys: Int
    let fileNanoseconds: Double
    let zipNanoseconds: Double
  }

  /// 30 µs, where nginx takes 13.
  private static let indexBesideNginx = 2.3

  /// The numbers of keys for which the targets were set.
  static let judgedKeys = (imported: 100_000, exported: 500_000, stored: 2_500_000)

  let build = BuildKind.current
  let index: Index?
  let imported: File?
  let match: Match?
  let exported: File?
  /// Uploads over 8 and then over 32 connections to a server that was empty before.
  let few: MeasuredUploads?
  let many: MeasuredUploads?
  let growth: [UploadGrowth]
  /// All figures beside their targets.
  let figures: [JudgedFigure]

  init(
    index: Index?, imported: File?, match: Match?, exported: File?, few: MeasuredUploads?,
    many: MeasuredUploads?, growth: [UploadGrowth]
  ) {
    (self.index, self.imported, self.match, self.exported) = (index, imported, match, exported)
    (self.few, self.many, self.growth) = (few, many, growth)
    let tails = [("8 connections", few), ("32 connections", many)].compactMap { name, uploads in
      uploads.map { JudgedFigure("uploads, \(name), p99 beside p50", $0.tail, .atMost(5)) }
    }
    figures =
      Self.figures(index) + Self.figures(match) + Self.figures(imported, exported)
      + growth.figures(of: "SQLite", at: Self.judgedKeys.stored, .atLeast(0.6)) + tails
  }

  private static func figures(_ index: Index?) -> [JudgedFigure] {
    guard let index else { return [] }
    let nginx = index.nginxMicroseconds.map {
      JudgedFigure(
        "304 of the index beside nginx, processor time, ratio",
        (index.microseconds / max($0, 0.001)).rounded(to: 2), .atMost(indexBesideNginx))
    }
    return [
      JudgedFigure("304 of the index, processor time, µs", index.microseconds, .atMost(30))
    ] + [nginx].compactMap(\.self)
  }

  private static func figures(_ match: Match?) -> [JudgedFigure] {
    guard let match else { return [] }
    return [
      JudgedFigure(
        "match from a zip above that from a file, processor time of a key, ns",
        (match.zipNanoseconds - match.fileNanoseconds).rounded(to: 1), .atMost(50))
    ]
  }

  private static func figures(_ imported: File?, _ exported: File?) -> [JudgedFigure] {
    var figures: [JudgedFigure] = []
    if let imported {
      figures.append(
        JudgedFigure(
          "import of \(imported.keys) keys, processor time, s", imported.processorSeconds,
          imported.keys == judgedKeys.imported ? BenchmarkTarget.Bound.atMost(1) : nil))
    }
    guard let exported else { return figures }
    let isJudged = exported.keys == judgedKeys.exported
    figures.append(
      JudgedFigure(
        "export of \(exported.keys) keys, processor time, s", exported.processorSeconds,
        isJudged ? BenchmarkTarget.Bound.atMost(0.5) : nil))
    if let peak = exported.ownMemoryMiB {
      figures.append(
        JudgedFigure(
          "export of \(exported.keys) keys, peak without the program, MiB", peak,
          isJudged ? BenchmarkTarget.Bound.atMost(40) : nil))
    }
    return figures
  }

  /// The uploads that were not accepted.
  var failed: Int {
    ([few, many].compactMap(\.self) + growth.map(\.uploads)).reduce(0) { $0 + $1.failed }
  }

  var text: String {
    let rates = [("8 connections", few), ("32 connections", many)].compactMap { name, uploads in
      uploads.map { "\(name): \($0.text)" }
    }
    let grown = growth.map { "\($0.storedKeys) keys stored: \($0.uploads.text)" }
    return (rates + grown + figures.map(\.text)).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case build, index, imported, match, exported, few, many, growth, figures
  }
}
