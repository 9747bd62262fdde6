import Foundation

/// Where the phones and servers of a demo keep their data.
struct DemoFolder {
  let url: URL
  private let isKept: Bool

  /// A temporary folder, or a new one at `keep`.
  init(keep: String?) throws {
    isKept = keep != nil
    url =
      keep.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent(
        "firebreak-demo-\(UUID().uuidString)")
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure.badInput(
        "\(url.path) is there already; name a folder that is not.")
    }
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: isKept, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(
        status: isKept ? .badInput : .machineFailed,
        sentence: "The folder \(url.path) cannot be made: check its place and its rights.")
    }
  }

  /// Removes a temporary folder. Where a signal ends the demo, phones and servers are still writing,
  /// and may make anew what was just removed: hence more than once.
  @Sendable func removeUnlessKept() {
    guard !isKept else { return }
    for _ in 0..<Self.removalsMax where FileManager.default.fileExists(atPath: url.path) {
      try? FileManager.default.removeItem(at: url)
    }
  }

  private static let removalsMax = 100
}
