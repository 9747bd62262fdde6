import Foundation

/// Where the files of a workload lie: a temporary folder, or one that is kept.
struct BenchFolder {
  let url: URL
  private let isKept: Bool

  /// A temporary folder, or the one at `keep`, made where it is not there yet.
  init(keep: String?) throws {
    isKept = keep != nil
    url =
      keep.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent(
        "firebreak-bench-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(
        status: isKept ? .badInput : .machineFailed,
        sentence: "The folder \(url.path.printable) cannot be made: check its place and its rights."
      )
    }
  }

  /// The place of a file to be written; refuses to replace one that is kept.
  func place(of name: String) throws -> URL {
    let place = url.appendingPathComponent(name)
    guard !FileManager.default.fileExists(atPath: place.path) else {
      throw CommandFailure.badInput(
        "\(place.path.printable) is there already; name another folder with --keep.")
    }
    return place
  }

  /// Removes a temporary folder with all that is in it.
  @Sendable func removeUnlessKept() {
    if !isKept { try? FileManager.default.removeItem(at: url) }
  }
}
