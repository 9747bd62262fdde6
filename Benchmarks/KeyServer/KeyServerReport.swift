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
    /// The times of zlib for the file; nil for an import.
    let zlib: ZlibTimes?
  }

  /// Matching of the same keys from an unzipped file and from a zip: medians of the processor time by key.
  struct Match: Encodable {
    let keys: Int
    let fileNanoseconds: Double
    let zipNanoseconds: Double
    /// The median of the differences between a measurement from a zip and the one from a file before it.
    let differenceNanoseconds: Double
  }

  /// 30 µs, where nginx takes 13.
  private static let indexBesideNginx = 2.3

  /// The numbers of keys for which the targets were set.
  static let judgedKeys = (imported: 100_000, stored: 2_500_000)

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
      Self.figures(index) + Self.figures(match, exported)
      + Self.figures(imported, exported)
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

  private static func figures(_ match: Match?, _ exported: File?) -> [JudgedFigure] {
    guard let match else { return [] }
    let name = "match from a zip above that from a file, processor time of a key"
    let besideZlib = exported?.zlib.map {
      JudgedFigure(
        "\(name), beside zlib's for the inflate, ratio",
        (match.differenceNanoseconds / max($0.inflateNanoseconds, 1)).rounded(to: 2), nil)
    }
    let difference = match.differenceNanoseconds.rounded(to: 1)
    return [JudgedFigure("\(name), ns", difference, .atMost(50))]
      + [besideZlib].compactMap(\.self)
  }

  private static func figures(_ imported: File?, _ exported: File?) -> [JudgedFigure] {
    let time = imported.map {
      JudgedFigure(
        "import of \($0.keys) keys, processor time, s", $0.processorSeconds,
        $0.keys == judgedKeys.imported ? BenchmarkTarget.Bound.atMost(1) : nil)
    }
    guard let exported else { return [time].compactMap(\.self) }
    return [time].compactMap(\.self)
      + MeasuredExport.figures(
        exported.keys, processorSeconds: exported.processorSeconds, atMost: 0.5,
        zlib: exported.zlib, ownMemoryMiB: exported.ownMemoryMiB)
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
